"""Verifies a target: built, started, checked clause by clause, stopped."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from httpbench import host, probe
from httpbench.errors import HttpbenchError
from httpbench.model import Cores, Label, Probed, SampledResponse, Scaling, Target, Workload
from httpbench.run.measure.contract_load import CONNECTIONS, REQUESTS, endures_load
from httpbench.run.start import HOST, STOP_GRACE_S, Place, Served, serve
from httpbench.run.verified import Verified

PROBE_LIMIT_S = 6.0
"""Here nobody waits for a measurement: there is time for a Date to move, and for slow answers."""


def verify(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores) -> Verified:
    """Starts a built target, checks its contract, and stops it."""
    checks: Sequence[probe.Check] = ()
    probed: Probed | None = None
    try:
        with tempfile.TemporaryDirectory(prefix="httpbench-") as scratch:
            own, generators = (Path(scratch, name) for name in ("target", "generator"))
            own.mkdir()
            generators.mkdir()
            place = Place(folder, own, host.core_groups(cores.target))
            with serve(target, scaling, workload, place) as served:
                begin = time.monotonic()
                checks = probe.check_all(HOST, served.port, workload, target.limits)
                probed = _probed(served, workload, begin)
                canned = "; ".join(probed.reasons) if probed.label is Label.CANNED else None
                checks = [*checks, probe.Check("answers what was asked", canned)]
                problem = endures_load(served, workload, cores, generators)
                checks = [*checks, probe.Check(f"answers {REQUESTS:,} requests over {CONNECTIONS} connections", problem)]
                death = served.death()
                checks = [*checks, probe.Check("stays alive", f"it ended by itself ({death})" if death else None)]
                stopped = served.stop()
        checks = [*checks, probe.Check(f"ends within {STOP_GRACE_S:g} s of SIGTERM, children included", stopped.problem)]
    except HttpbenchError as error:
        return Verified(target, scaling, tuple(checks), error, probed)
    return Verified(target, scaling, tuple(checks), None, probed)


def probe_target(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores) -> Probed:
    """What a built target was seen to do. Raises :class:`HttpbenchError`."""
    with tempfile.TemporaryDirectory(prefix="httpbench-") as scratch:
        place = Place(folder, Path(scratch), host.core_groups(cores.target))
        with serve(target, scaling, workload, place) as served:
            return _probed(served, workload, time.monotonic())


def sample(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores) -> SampledResponse:
    """One answer of a built target. Raises :class:`HttpbenchError`."""
    with tempfile.TemporaryDirectory(prefix="httpbench-") as scratch:
        place = Place(folder, Path(scratch), host.core_groups(cores.target))
        with serve(target, scaling, workload, place) as served:
            served.stop()
            return served.response


def _probed(served: Served, workload: Workload, answered_at: float) -> Probed:
    age_s = time.monotonic() - answered_at
    return probe.observe(served.host, served.port, workload, served.response, age_s, PROBE_LIMIT_S)

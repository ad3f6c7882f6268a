"""A table of the functions that check each kind of target. Measurements don't need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from httpbench.http import Transport
from httpbench.model import Conformance, Cores, Kind, SampledRequest, SampledResponse, Scaling, Target, Workload
from httpbench.run.client.verify import sample_client, verify_client
from httpbench.run.proxy.verify import conformance_of_proxy, sample_proxy, verify_proxy
from httpbench.run.server.verify import conformance_of, sample, verify
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.verified import Verified


@dataclass(frozen=True, slots=True)
class Checks:
    """The functions that check targets of one kind."""

    verify: Callable[[Target, Scaling, Workload, Path, Cores, Upstream | None, Transport], Verified]
    sample: Callable[[Target, Scaling, Workload, Path, Cores, Upstream | None, Transport], SampledResponse | SampledRequest]
    """Function that returns what ``httpbench responses`` shows. Raises :class:`~httpbench.errors.HttpbenchError`."""
    conformance: Callable[[Target, Scaling, Workload, Path, Cores, Upstream | None, Transport], Conformance | None] = lambda *_: None
    """Function that runs h2spec on a target, and returns its result, or ``None`` if h2spec isn't installed. Raises
    :class:`~httpbench.errors.HttpbenchError`."""


CHECKS: Mapping[Kind, Checks] = {
    Kind.SERVER: Checks(verify, sample, conformance_of),
    Kind.CLIENT: Checks(
        verify=lambda target, scaling, workload, folder, cores, *_: verify_client(target, scaling, workload, folder, cores),
        sample=lambda target, scaling, workload, folder, cores, *_: sample_client(target, scaling, workload, folder, cores),
    ),
    Kind.PROXY: Checks(verify_proxy, sample_proxy, conformance_of_proxy),
}

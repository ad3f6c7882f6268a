"""All experiments on one server, within a time that is bounded, and what it is called after them.

The Date comes last: it is the only thing that time tells. With an earlier answer at hand it mostly costs no time at all.
"""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

from httpbench.model import Observation, Probed, SampledResponse, Trait, Workload
from httpbench.probe.asked import ask_in_disguise
from httpbench.probe.conduct import EXPERIMENTS, Experiment
from httpbench.probe.exchange import ExchangeError
from httpbench.probe.label import label
from httpbench.probe.server import Server

ANSWERS_MIN = 3
"""So many answers may fail to come before the time is over."""
LATE = "the time for it was over"
DATE_OFF_S = 2.5
"""From here on a Date is wrong, and one that did not change stands still: servers may write it once a second, a busy one late."""
DATE_POLL_S = 0.05


def observe(host: str, port: int, workload: Workload, first: SampledResponse, first_age_s: float, limit_s: float) -> Probed:
    """Looks at a server that answers the workload rightly.

    ``first`` is such an answer, received ``first_age_s`` ago. What there is no time for within ``limit_s`` is not seen.
    """
    begin = time.monotonic()
    server = Server(host, port, workload, limit_s / ANSWERS_MIN, begin + limit_s)
    seen = _asked(server)
    seen += [_made(server, experiment) for experiment in EXPERIMENTS]
    seen.append(_date(server, first, begin - first_age_s))
    found, reasons = label(seen)
    return Probed(label=found, reasons=reasons, response_bytes=first.size_bytes, observations=tuple(seen))


def _asked(server: Server) -> list[Observation]:
    """Without an answer nothing is said: this is the experiment that must not be mistaken."""
    try:
        return ask_in_disguise(server)
    except (ExchangeError, OSError) as error:
        came = str(error)
    return [Observation(trait=trait, holds=None, sent="requests", came=came) for trait in (Trait.ASKED, Trait.ROUTES)]


def _made(server: Server, experiment: Experiment) -> Observation:
    holds: bool | None = None
    if server.is_late:
        return Observation(trait=experiment.trait, holds=None, sent="nothing", came=LATE)
    try:
        holds, came = experiment.conduct(server)
    except ExchangeError as error:
        came = str(error)
        holds = None if server.is_late or experiment.trait is Trait.UNASKED else False
    except OSError as error:
        came = f"could not be reached: {error.strerror or error}"
    return Observation(trait=experiment.trait, holds=holds, sent=experiment.sent, came=came)


def _date(server: Server, first: SampledResponse, first_at: float) -> Observation:
    """Compares the Date of an answer with that of an earlier one, and waits where too little time lies between them."""

    def seen(holds: bool | None, came: str) -> Observation:
        return Observation(trait=Trait.DATE, holds=holds, sent="a request, some time after the first", came=came)

    before = next((value for name, value in first.headers if name.lower() == "date"), None)
    if before is None:
        return seen(None, "no Date")
    while True:
        try:
            now = server.ask(server.workload.request)[0].header("date")
        except (ExchangeError, OSError) as error:
            return seen(None, str(error))
        age_s = time.monotonic() - first_at
        if now != before:
            return seen(True, f"«{now}», {_off(now)}")
        if age_s > DATE_OFF_S:
            return seen(False, f"still «{before}» after {age_s:.1f} s")
        if server.is_late:
            return seen(None, f"the same Date, but after {age_s:.1f} s only")
        time.sleep(DATE_POLL_S)


def _off(date: str | None) -> str:
    try:
        off_s = abs(time.time() - parsedate_to_datetime(date or "").timestamp())
    except (TypeError, ValueError):
        return "which is no date"
    return f"{off_s:.0f} s off" if off_s > DATE_OFF_S else "which is right"

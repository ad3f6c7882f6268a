"""Run all experiments on one server within a time limit, and derive its label.

The Date header is checked last, because it needs time to change. It is compared with the Date header of an earlier response, so the check
usually takes no extra time.
"""

from __future__ import annotations

import time
from dataclasses import replace
from email.utils import parsedate_to_datetime

from httpbench.http.response import ExchangeError
from httpbench.http.server import Server
from httpbench.model import Observation, Probed, SampledResponse, Trait
from httpbench.probe.canned import dependence
from httpbench.probe.experiments import EXPERIMENTS, Experiment
from httpbench.probe.label import label

TIMEOUTS = 3
"""Time limit of all experiments, as a multiple of the timeout of one request."""
LATE = "no time was left"
DATE_OFF_S = 2.5
"""Maximum error of a Date header, and maximum time for which it may stay the same, in seconds. Servers update the header once a second, or
less often when busy."""
DATE_POLL_S = 0.05


def observe(server: Server, first: SampledResponse, first_age_s: float, limit_s: float) -> Probed:
    """Observe a server that responds correctly to its workload's request. The server must speak HTTP/1.1.

    ``first`` is a correct response that arrived ``first_age_s`` seconds ago. Traits that can't be tested within ``limit_s`` seconds stay
    unknown.
    """
    begin = time.monotonic()
    server = replace(server, timeout_s=limit_s / TIMEOUTS, deadline=begin + limit_s)
    seen = _dependence(server)
    seen += [_made(server, experiment) for experiment in EXPERIMENTS]
    seen.append(_date(server, first, begin - first_age_s))
    found, reasons = label(seen)
    return Probed(label=found, reasons=reasons, response_bytes=first.size_bytes, observations=tuple(seen))


def _dependence(server: Server) -> list[Observation]:
    """Observe whether responses depend on requests.

    If a response is missing, the result is unknown, so that no server is wrongly called canned.
    """
    try:
        return dependence(server)
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
    """Compare the Date headers of new responses with that of an earlier one, until the header changes or should have changed."""

    def seen(holds: bool | None, came: str) -> Observation:
        return Observation(trait=Trait.DATE, holds=holds, sent="a request, some time after the first", came=came)

    before = next((value for name, value in first.headers if name.lower() == "date"), None)
    if before is None:
        return seen(None, "no Date")
    while True:
        try:
            now = server.exchange()[0].header("date")
        except (ExchangeError, OSError) as error:
            return seen(None, str(error))
        age_s = time.monotonic() - first_at
        if now != before:
            return seen(True, f'"{now}", {_off(now)}')
        if age_s > DATE_OFF_S:
            return seen(False, f'still "{before}" after {age_s:.1f} s')
        if server.is_late:
            return seen(None, f"the same Date, but only {age_s:.1f} s later")
        time.sleep(DATE_POLL_S)


def _off(date: str | None) -> str:
    try:
        off_s = abs(time.time() - parsedate_to_datetime(date or "").timestamp())
    except (TypeError, ValueError):
        return "which is not a date"
    return f"{off_s:.0f} s off" if off_s > DATE_OFF_S else "which is correct"

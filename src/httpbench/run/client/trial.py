"""One trial of a client: proof that it does the work, start-up, the work itself; and what the reference server saw of it.

In the first run, which is not timed, each answer is held back: a client that does not wait for it is seen for certain. In the timed
run answers come at once, and the counts are the proof that it was the same work. A client that did other work has no figure.
"""

from __future__ import annotations

from pathlib import Path

from httpbench.model import ClientMeasurement, ClientWork, Limit, Timing, Trial, Verdict, VerdictKind
from httpbench.run.client.reference import reference
from httpbench.run.client.run_once import Client, Ran, run_client
from httpbench.run.observer import Observer, Stage
from httpbench.run.trial import TrialJob, make_trial
from httpbench.stats.equal_work import Told, unequal

HELD_S = 0.05
HELD_REQUESTS = 10
BUSY_SHARE = 0.5
"""A client that was on a processor for less of its time than this mostly waited: for the server, or to be woken up."""


def run_client_trial(job: TrialJob, observer: Observer) -> Trial:
    """A trial of a client."""
    return make_trial(job, observer, _measured)


def _measured(job: TrialJob, scratch: Path, started_at: str, observer: Observer) -> Trial:
    work, path, cores = job.client_work, job.workload.request.path, job.plan.cores
    client = Client(job.target, job.folder, cores, job.timer, job.plan.load.duration_s)
    held, free = scratch / "held", scratch / "free"
    held.mkdir()
    free.mkdir()
    observer.stage(Stage.PROVE)
    held_requests = min(work.requests, HELD_REQUESTS)
    with reference(work, path, cores, held, held_s=HELD_S) as server:
        proved = run_client(client, server.url, held_requests, held)
        done_held = server.stop()
    if proved.timed.code != 0:
        return _crashed(job, started_at, proved, held_requests)
    observer.stage(Stage.MEASURE)
    with reference(work, path, cores, free) as server:
        started = run_client(client, server.url, 0, free)
        worked = run_client(client, server.url, work.requests, free)
        done = server.stop()
    for ran, requests in ((started, 0), (worked, work.requests)):
        if ran.timed.code != 0:
            return _crashed(job, started_at, ran, requests)
    otherwise = {
        **unequal(_told(job, held_requests), done_held, proved.printed),
        **unequal(_told(job, work.requests), done, worked.printed),
    }
    return Trial(
        plan=job.plan,
        started_at=started_at,
        verdict=_verdict(tuple(otherwise.values()), worked.timed.timing),
        client=ClientMeasurement(
            timer=job.timer.name,
            timer_version=job.timer.version(),
            requests=work.requests,
            whole=worked.timed.timing,
            startup=started.timed.timing,
            done=done,
            done_held=done_held,
        ),
        log_tail=worked.log_tail if otherwise else None,
    )


def _told(job: TrialJob, requests: int) -> Told:
    work: ClientWork = job.client_work
    return Told(requests, work.body_bytes, work.reconnect or Limit.NO_KEEPALIVE in job.target.limits)


def _crashed(job: TrialJob, started_at: str, ran: Ran, requests: int) -> Trial:
    verdict = Verdict(kind=VerdictKind.FAILED, reasons=(f"crashed when it was told to make {requests:,} requests ({ran.timed})",))
    return Trial(plan=job.plan, started_at=started_at, verdict=verdict, log_tail=ran.log_tail)


def _verdict(otherwise: tuple[str, ...], timing: Timing) -> Verdict:
    if otherwise:
        return Verdict(kind=VerdictKind.INVALID, reasons=otherwise)
    return Verdict(kind=VerdictKind.TARGET if timing.cpu_s >= BUSY_SHARE * timing.wall_s else VerdictKind.IDLE)

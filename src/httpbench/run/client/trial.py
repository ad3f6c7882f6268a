"""Run one trial of a client: prove that it does the work, time its start-up in a run without requests, then time the work.

In the first run, which isn't timed, the reference server delays each response to detect a client that doesn't wait for responses. In the
timed run, the server responds immediately. If the server's counts don't prove that the client did the required work, the trial has no
result.
"""

from __future__ import annotations

from pathlib import Path

from httpbench.errors import TargetDiedError
from httpbench.model import ClientMeasurement, Commands, Limit, Observed, Trial
from httpbench.run.client.reference import reference
from httpbench.run.client.run_once import Client, ClientRun, run_client
from httpbench.run.observer import Observer, Stage
from httpbench.run.trial.frame import folders_in
from httpbench.run.trial.inputs import TrialInputs
from httpbench.stats.equal_work import Told, unequal
from httpbench.stats.verdict import UNJUDGED, judged

HELD_S = 0.05
HELD_REQUESTS = 10


def measure_client(inputs: TrialInputs, scratch: Path, observer: Observer) -> Trial:
    """Run a trial of a client. ``scratch`` must be an empty folder."""
    work, path, cores = inputs.client_work, inputs.workload.request.path, inputs.plan.cores
    client = Client(inputs.target, inputs.folder, cores, inputs.timer, inputs.plan.load.duration_s)
    held, free = folders_in(scratch, "held", "free")
    observer.stage(Stage.PROVE)
    held_requests = min(work.requests, HELD_REQUESTS)
    with reference(work, path, cores, held, held_s=HELD_S) as server:
        proof = run_client(client, server.url, held_requests, held)
        done_held = server.stop()
    _require_success(proof, held_requests)
    observer.stage(Stage.MEASURE)
    with reference(work, path, cores, free) as server:
        startup = run_client(client, server.url, 0, free)
        whole = run_client(client, server.url, work.requests, free)
        done = server.stop()
    _require_success(startup, 0)
    _require_success(whole, work.requests)
    differences = {
        **unequal(_told(inputs, held_requests), done_held, proof.printed),
        **unequal(_told(inputs, work.requests), done, whole.printed),
    }
    trial = Trial(
        plan=inputs.plan,
        started_at=inputs.started_at,
        verdict=UNJUDGED,
        observed=Observed(incidents=tuple(differences.values())),
        client=ClientMeasurement(
            timer=inputs.timer.name,
            timer_version=inputs.timer.version(),
            requests=work.requests,
            whole=whole.timed.timing,
            startup=startup.timed.timing,
            done=done,
            done_held=done_held,
        ),
        log_tail=whole.log_tail if differences else None,
        commands=Commands(target=whole.command, load=whole.timed_by),
    )
    return judged(trial)


def _told(inputs: TrialInputs, requests: int) -> Told:
    work = inputs.client_work
    return Told(requests, work.body_bytes, work.reconnect or Limit.NO_KEEPALIVE in inputs.target.limits)


def _require_success(ran: ClientRun, requests: int) -> None:
    if ran.timed.code != 0:
        raise TargetDiedError(f"crashed when asked to send {requests:,} requests ({ran.timed})", log_tail=ran.log_tail)

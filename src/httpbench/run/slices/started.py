"""Start the programs that a target needs for its turns: a server alone, or a proxy in front of the backend that all proxies share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from httpbench import http
from httpbench.errors import HttpbenchError
from httpbench.host.scratch import scratch_folder
from httpbench.model import Kind, Trial, TrialPlan
from httpbench.run.load.meters import Subject
from httpbench.run.proxy.handled import QUERY, Handled, handled_by
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.running import RunningTarget
from httpbench.run.trial.start import start

NOTHING = Handled(connections=0, requests=0)


class SharedBackend:
    """The backend of all proxies of a round. It starts when the first proxy needs it, and is stopped when ``stack`` is closed."""

    def __init__(self, stack: ExitStack):
        self._stack = stack
        self._running: RunningTarget | None = None
        self._error: HttpbenchError | OSError | None = None
        self._counter: str | None = None

    def running(self, inputs: TrialInputs) -> RunningTarget:
        """Start the backend if it isn't running, and return it. If it can't start, raise the same error for each proxy."""
        assert inputs.backend is not None, "a proxy is measured in front of a backend"
        if self._error is not None:
            raise self._error
        if self._running is None:
            from httpbench.run.proxy.backend import started_backend

            scratch = self._stack.enter_context(scratch_folder())
            starting = started_backend(inputs.backend, inputs.workload, scratch, inputs.start_limit_s, inputs.address)
            try:
                self._running = replace(self._stack.enter_context(starting), is_shared=True)
            except (HttpbenchError, OSError) as error:
                self._error = error
                raise
            self._counter = inputs.backend.target.counter
        return self._running

    def death(self) -> str | None:
        """Return how the backend ended, or ``None`` if it runs or was never started."""
        return self._running.death() if self._running else None

    def handled(self) -> Handled | None:
        """Return what the backend has handled so far, including this query, or ``None`` if it doesn't count."""
        return handled_by(self._running, self._counter) if self._running else None


@dataclass(slots=True)
class HandledInTurns:
    """What the shared backend handled for one target."""

    backend: SharedBackend
    so_far: Handled | None = NOTHING
    """What the backend has handled so far, or ``None`` if it doesn't count."""

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what the backend handles until the block ends."""
        before = self.backend.handled()
        yield
        after = self.backend.handled()
        if self.so_far is None or before is None or after is None:
            self.so_far = None
        else:
            self.so_far += after - before - QUERY


@contextmanager
def started(inputs: TrialInputs, scratch: Path, backend: SharedBackend) -> Iterator[tuple[TrialInputs, Subject]]:
    """Start a target, and yield the inputs of its measurement and the programs under load."""
    planned = inputs.plan
    if inputs.target.kind is Kind.SERVER:
        inputs = replace(inputs, workload=inputs.workload.of(inputs.target))
        with start(inputs.target, planned.scaling, inputs.workload, inputs.place(scratch)) as running:
            yield inputs, Subject(running, planned.cores)
        return
    from httpbench.run.proxy.backend import in_front_of
    from httpbench.run.proxy.trial import BASELINE, direct

    if inputs.target.id == BASELINE.id:
        inputs = direct(inputs)
        with _directly_loaded(inputs, scratch, backend) as running:
            yield inputs, Subject(running, inputs.plan.cores)
    else:
        behind = backend.running(inputs)
        with start(inputs.target, planned.scaling, inputs.workload, in_front_of(behind, inputs, scratch)) as running:
            yield inputs, Subject(running, planned.cores, behind, mode=inputs.target.mode)


@contextmanager
def _directly_loaded(inputs: TrialInputs, scratch: Path, backend: SharedBackend) -> Iterator[RunningTarget]:
    """Yield the backend that all proxies share or, if the load isn't plain HTTP/1.1, another backend that serves such requests."""
    from httpbench.run.proxy.backend import started_backend
    from httpbench.run.proxy.trial import baseline_transport

    transport = baseline_transport(inputs)
    if transport == http.PLAIN:
        yield backend.running(inputs)
        return
    assert inputs.backend is not None, "a proxy is measured in front of a backend"
    with started_backend(inputs.backend, inputs.workload, scratch, inputs.start_limit_s, inputs.address, transport) as running:
        yield running


def finished(trial: Trial, inputs: TrialInputs, planned: TrialPlan, handled: HandledInTurns) -> Trial:
    """Add the observations of the backend to the trial of a proxy or of the baseline. Returns the trial of a server unchanged.

    Args:
        trial: The trial. For the baseline, its plan is that of the directly loaded backend.
        inputs: Inputs of the measurement.
        planned: The original plan of the trial.
        handled: What the backend handled for this target.
    """
    if inputs.target.kind is Kind.SERVER:
        return trial
    from httpbench.run.proxy.backend import with_backend
    from httpbench.run.proxy.trial import BASELINE, as_baseline

    if inputs.target.id == BASELINE.id:
        return as_baseline(trial, planned)
    return with_backend(trial, inputs.target.mode, handled.so_far, handled.backend.death())

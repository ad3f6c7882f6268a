"""A backend on the load host. The proxy gets the cores that the backend would have used here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from httpbench import http
from httpbench.errors import StartError
from httpbench.isolate import tail
from httpbench.model import Workload
from httpbench.run.load.place import BackendPlace
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.start import Inside, RunningTarget, StartContext, filled


@contextmanager
def started_there(
    backend: Upstream, place: BackendPlace, workload: Workload, scratch: Path, start_limit_s: float
) -> Iterator[RunningTarget]:
    """Run the backend. Raises :class:`StartError` with the tail of its log, or :class:`~httpbench.errors.LostHostError`."""

    def fill(host: str, port: int, workers: int, own_scratch: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
        return filled(backend.target, StartContext(backend.folder, scratch, ()), Inside(host, port, workers, own_scratch))

    log = scratch / "target.log"
    with place.serve(fill, backend.folder) as server:
        try:
            response = http.wait_until_correct(server.host, server.port, workload, start_limit_s, lambda: server.death() is None)
        except StartError as error:
            log.write_text(server.log())
            error.log_tail = tail(log)
            raise
        yield RunningTarget(None, server.host, server.port, response, log, there=server)

"""A network of namespaces, with a Dask worker on each load host, and the scheduler and a server on the target's host."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import namespaces, stalling_server, waiting
from tests.dask_cluster import Cluster, Wrap, cluster

PORT = 8080


@dataclass(frozen=True, slots=True)
class Lab:
    network: namespaces.Network
    cluster: Cluster
    url: str
    """URL of :mod:`tests.stalling_server`."""

    def have(self, count: int) -> None:
        """End and start workers, so that the first load hosts have one each and the others have none."""
        hosts = self.network.load_hosts[:count]
        self.cluster.keep(*(host.name for host in hosts))
        for host in hosts:
            if host.name not in {worker.name for worker in self.cluster.workers}:
                self.cluster.add(host.name, host=host.address, wrap=on(host))
        self.cluster.workers.sort(key=lambda worker: worker.name)


@contextmanager
def lab(
    folder: Path,
    load_hosts: int,
    link: namespaces.Link | None = None,
    period_s: float = 1.0,
    env: Mapping[str, str] | None = None,
    workers: int | None = None,
) -> Iterator[Lab]:
    """Set up the lab, or skip the test if this machine can't create the network.

    ``link`` applies to each load host and ``env`` to each worker. ``period_s`` is the period of the server's stalls. ``workers`` is the
    number of load hosts that get a worker at first, by default all.
    """
    with namespaces.network(folder, load_hosts, link) as network:
        target = network.target
        with cluster(folder / "dask", host=target.address, wrap=on(target), tls=True, env=env) as made:
            log = folder / "server.log"
            with log.open("w") as output:
                server = target.start(sys.executable, stalling_server.__file__, target.address, str(PORT), str(period_s), stdout=output)
            try:
                waiting.until(lambda: "listening" in log.read_text())
                whole = Lab(network, made, f"http://{target.address}:{PORT}/")
                whole.have(load_hosts if workers is None else workers)
                yield whole
            finally:
                server.terminate()
                server.wait()


def on(host: namespaces.Host) -> Wrap:
    def wrap(words: Sequence[str]) -> list[str]:
        return host.argv(*words)

    return wrap

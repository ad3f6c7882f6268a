"""A member of a Dask cluster that httpbench starts by ssh: the scheduler, or the worker of a load host.

    ssh load1 python -m httpbench.cluster.dask.node

It reads one line of JSON from standard input and prints its address as JSON. It ends when standard input closes or when its starter is
silent for ``SILENCE_S``, so it can't outlive the run. Standard input also contains the certificates, because other users of the host
could read them in a command line.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import os
import select
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import dask
from distributed import Scheduler, Worker

from httpbench.cluster.dask.credentials import Credentials
from httpbench.cluster.dask.security import security
from httpbench.host.scratch import scratch_folder, sweep

SILENCE_S = 20.0
"""Longest silence of the starter, in seconds."""
END_S = 5.0
"""Time limit for ending in an orderly way, in seconds."""
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""Configuration that keeps a member from taking CPU time beside the load generator. By default, Dask samples its own threads every 10 ms,
so that a worker that waits takes about 6% of a core, and serves pages even without its dashboard."""


def main() -> None:
    """Run the member that the first line of standard input describes."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    dask.config.set(QUIET)
    orders = json.loads(sys.stdin.buffer.readline())
    sweep()
    with scratch_folder() as folder:
        tempfile.tempdir = str(folder)
        asyncio.run(_run(orders, str(folder)))


async def _run(orders: dict[str, Any], folder: str) -> None:
    starter_is_gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_watch, args=(lambda: loop.call_soon_threadsafe(starter_is_gone.set), folder), daemon=True).start()
    own: dict[str, Any] = {"security": security(Credentials(**orders["credentials"])), "protocol": "tls"}
    own |= {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    if address := _own_address():
        own["host"] = address
    if orders["scheduler"] is None:
        member: Scheduler | Worker = Scheduler(port=0, **own)
        close = member.close
    else:
        member = Worker(orders["scheduler"], name=orders["name"], nthreads=1, memory_limit=0, local_directory=folder, **own)
        close = functools.partial(member.close, executor_wait=False)
    await member
    print(json.dumps({"address": member.address}), flush=True)
    tasks = [asyncio.ensure_future(starter_is_gone.wait()), asyncio.ensure_future(member.finished())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await close()


def _own_address() -> str | None:
    """Return the address at which ssh reached this host, or ``None`` if that is loopback or unknown."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    address = words[2] if len(words) == 4 else ""
    return None if not address or address.startswith("127.") or address == "::1" else address


def _watch(end: Callable[[], object], folder: str) -> None:
    """Call ``end`` when standard input closes or stays silent.

    If this process is still running after ``END_S``, such as a worker that waits for its scheduler, remove the folder and end the process.
    """
    descriptor = sys.stdin.fileno()
    while select.select([descriptor], [], [], SILENCE_S)[0] and os.read(descriptor, 4096):
        pass
    end()
    time.sleep(END_S)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


if __name__ == "__main__":
    main()

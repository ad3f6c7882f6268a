"""Start programs in Python by forking a process that has imported httpbench, because the imports take more CPU time than most tests.

Run as a program, this file is that process, the *template*. It only imports httpbench and builds its models, so a fork is in the same state
as a new process that has used them. Each order to the template contains the arguments, environment, folder and standard streams of one
fork.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ORDER_BYTES_MAX = 1 << 17
NOT_IMPORTED = ("httpbench.web", "httpbench.cluster.dask")
"""Packages that take long to import and that few commands use."""


class Forked(subprocess.Popen[str]):
    """A forked Python that is a child of this process. ``args`` are those of an interpreter: ``-c``, the program, and its arguments."""

    def _execute_child(self, words: list[str], *others: Any) -> None:
        assert words[0] == "-c", words
        folder, env = others[4:6]
        pipes, has_session = others[9:15], others[20]
        streams = [own if given == -1 else given for own, given in enumerate((pipes[0], pipes[3], pipes[5]))]
        order = {"words": words, "folder": str(folder or Path.cwd()), "env": env or dict(os.environ), "has_session": has_session}
        orders = _template()
        orders.sendmsg([json.dumps(order).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))])
        self.pid = int(orders.recv(100))
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


@cache
def _template() -> socket.socket:
    """Start the template of this process and return the socket for its orders."""
    from httpbench.isolate.adopted import adopt_orphans

    adopt_orphans()  # so that the forks become children of this process
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        argv = [sys.executable, __file__, str(theirs.fileno())]
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a process with threads can't be forked safely
        template = subprocess.Popen(argv, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=env)
    atexit.register(template.wait, 10)
    atexit.register(ours.close)
    return ours


def _import_all(folders: Iterable[str], prefix: str) -> None:
    for found in pkgutil.iter_modules(folders, prefix):
        if found.name not in NOT_IMPORTED and not found.name.endswith(".__main__"):
            module = import_module(found.name)
            if found.ispkg:
                _import_all(module.__path__, f"{found.name}.")


def _forks(orders: socket.socket) -> bool:
    """Fork for each order. Return true in each fork, and false when there are no more orders."""
    while True:
        message, streams, *_ = socket.recv_fds(orders, ORDER_BYTES_MAX, 3)
        if not message:
            return False
        reader, writer = os.pipe()
        if (between := os.fork()) == 0:
            if pid := os.fork():
                os.write(writer, str(pid).encode())
                os._exit(0)
            for number in (reader, writer):
                os.close(number)
            orders.close()
            _become(json.loads(message), streams)
            return True
        os.waitpid(between, 0)  # now the fork is a child of the process that sent the order
        orders.send(os.read(reader, 100))
        for number in (reader, writer, *streams):
            os.close(number)


def _become(order: dict[str, Any], streams: list[int]) -> None:
    """Apply an order to this process."""
    if order["has_session"]:
        os.setsid()
    for own, given in enumerate(streams):
        os.dup2(given, own)
        os.close(given)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = order["words"]
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    sys.stderr = os.fdopen(2, "w", errors="backslashreplace", closefd=False)
    sys.stderr.reconfigure(line_buffering=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is meant for the tests
    sys.path[0] = ""
    import httpbench.cli
    from httpbench.model import build_validators

    main = httpbench.cli.main
    _import_all(httpbench.__path__, "httpbench.")
    httpbench.cli.main = main  # the import of the module with the same name has replaced it
    build_validators()  # which would otherwise be built in each fork
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        is_fork = _forks(orders)
    if is_fork:
        exec(compile(sys.argv.pop(1), "<string>", "exec"), {"__name__": "__main__"})

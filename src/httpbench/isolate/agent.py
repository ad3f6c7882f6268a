"""The agent: a program that httpbench runs on a load host over ssh. It starts a load generator there and samples its CPU time and memory.

It is a separate program (standard library only, Python 3.10 or newer) that ssh passes to the host's ``python3`` without installing it. The
load generator runs below a :mod:`~httpbench.isolate.guard`. When ssh or the harness ends, the agent's standard input closes, and the agent
and the load generator end. They also end if the harness has been silent for ``silence_s`` seconds, for example because the network failed.

The protocol is one JSON object per line in both directions. The harness first sends ``{"agent": SOURCE, "modules": {NAME: SOURCE}, "task":
TASK}``. The task's ``do`` selects what the agent does: ``look`` reads files and runs short commands, and ``connect`` measures round trips
to an address. ``install`` writes a program, ``port`` finds a free port, and ``run`` starts a program. Every task except ``run`` prints one
line, ``seen``, and ends. ``run`` prints the lines that it gets from the guard.

During ``run``, the harness sends these lines:

- ``{"beat": N}``: a heartbeat, which the agent echoes.
- ``{"order": LINE}``: the agent writes the line to the program's standard input.
- ``{"mark": true}``: the measured window begins.
- ``{"close": true}``: the measured window ends. The agent prints ``closed`` with its report.
- ``{"output": true}``: the agent prints the generator's standard output.
- ``{"stop": GRACE_S}``: the agent passes the line on to the guard.
"""

from __future__ import annotations

import base64
import collections
import contextlib
import glob
import hashlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
from typing import Any

SAMPLE_S = 0.1
RESCAN_S = 0.5  # listing the processes costs more than reading their CPU time and memory
COMMAND_LIMIT_S = 10.0
CONNECT_LIMIT_S = 3.0
COUNTERS = ("stat", "net/snmp", "net/netstat", "net/softnet_stat", "net/dev")
"""Files below /proc with counters for the whole host."""


def say(event: str, **more: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **more}) + "\n")
    sys.stdout.flush()


def text_of(path: str) -> str | None:
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return None


def look(task: dict[str, Any]) -> dict[str, Any]:
    """Return the requested files, the usable CPUs, the paths of programs and the output of commands."""
    paths = [path for pattern in task["files"] for path in glob.glob(pattern)]
    folders = f"{os.environ.get('PATH', os.defpath)}:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
    return {
        "files": {path: text for path in paths if (text := text_of(path)) is not None},
        "cpus": sorted(os.sched_getaffinity(0)),
        "open_files": open_files(),
        "machine": os.uname().machine,
        "cache": cache(),
        "programs": {name: shutil.which(name, path=folders) for name in task["programs"]},
        "printed": [printed(argv) for argv in task["commands"]],
    }


def open_files() -> int:
    """Return the maximum number of files that a process can open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return int(text_of("/proc/sys/fs/nr_open") or "0") if hard == resource.RLIM_INFINITY else hard


def cache() -> str:
    """Return the path of httpbench's folder in the user's cache."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(named if os.path.isabs(named) else os.path.expanduser("~/.cache"), "httpbench")


def printed(argv: list[str]) -> dict[str, Any]:
    """Run a short command and return its exit code and both streams. The code is ``None`` if the command can't run on this host."""
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=COMMAND_LIMIT_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"code": None, "stdout": "", "stderr": str(error)}
    return {"code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def install(task: dict[str, Any]) -> dict[str, Any]:
    """Write a program to httpbench's cache folder, and return its path and the hash of the stored file."""
    folder = os.path.join(cache(), "programs")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, task["name"])
    handle, partial = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64decode(task["data"]))
        os.chmod(partial, 0o755)
        os.replace(partial, path)  # a process that runs the old file isn't affected
    except BaseException:
        os.unlink(partial)
        raise
    with open(path, "rb") as file:
        return {"path": path, "sha256": hashlib.sha256(file.read()).hexdigest()}


def connect(task: dict[str, Any]) -> dict[str, Any]:
    """Return the times of one-byte round trips to an echo server, in µs, or why the connection failed."""
    times = []
    try:
        with socket.create_connection((task["address"], task["port"]), CONNECT_LIMIT_S) as stream:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            local = stream.getsockname()[0]
            for _ in range(task["count"]):
                begin = time.perf_counter()
                stream.sendall(b".")
                if not stream.recv(1):
                    break
                times.append((time.perf_counter() - begin) * 1e6)
    except OSError as error:
        return {"error": error.strerror or str(error)}
    return {"times_us": times, "local": local}


def port(task: dict[str, Any]) -> dict[str, Any]:
    """Return a free port on the task's address."""
    family = socket.AF_INET6 if ":" in task["address"] else socket.AF_INET
    with socket.create_server((task["address"], 0), family=family) as server:
        return {"port": server.getsockname()[1]}


class Watch:
    """Samples of the processes under a guard process and of the host's counters, since the last mark."""

    def __init__(self, root_pid: int, modules: dict[str, Any]):
        self._modules, self._root_pid = modules, root_pid
        self._tree = modules["tree"].Tree(root_pid)
        self._threads = modules["threads"].Threads()
        self._rescan_at = 0.0
        self.mark()

    def mark(self) -> None:
        self._scan()
        self._begin = time.monotonic()
        self._first = self._last = self._tree.read()
        self._samples: list[list[float]] = []
        self._threads.begin(self._tree.known)
        self._before = counters()

    def take(self) -> None:
        if time.monotonic() >= self._rescan_at:
            self._scan()
        before, self._last = self._last, self._tree.read()
        cpu_s = (self._last.ticks - before.ticks) / self._modules["tree"].TICKS_PER_S
        self._samples.append([time.monotonic() - self._begin, cpu_s, self._last.rss_bytes, self._last.processes])
        self._threads.look(self._tree.known)

    def report(self) -> dict[str, Any]:
        self.take()
        return {
            "samples": self._samples,
            "first": [self._first.rss_bytes, self._first.processes],
            "waited_cores": self._threads.wait_cores_mean,
            "threads": self._threads.count,
            "fullest_cores": self._threads.fullest_cores,
            "before": self._before,
            "after": counters(),
            "elapsed_s": time.monotonic() - self._begin,
            "links": self._modules["link_limits"].read(),
        }

    def _scan(self) -> None:
        self._rescan_at = time.monotonic() + RESCAN_S
        self._tree.find(self._modules["tree"].descendants(self._root_pid))


def counters() -> dict[str, str]:
    return {name: text for name in COUNTERS if (text := text_of(f"/proc/{name}")) is not None}


class Session:
    """A load generator under a guard process. The load generator and the guard end when the connection to the harness ends."""

    def __init__(self, task: dict[str, Any], modules: dict[str, Any]):
        self._silence_s = task["silence_s"]
        self._modules = modules
        self._folder = modules["scratch"].ScratchFolder()
        self._scratch = str(self._folder.path)
        self._stdout = os.path.join(self._scratch, "generator.out")
        self._watch: Watch | None = None
        self._guard_pid: int | None = None
        self._orders: int | None = None
        self._is_heard = False
        self._silent_s = 0.0
        self._has_ended = False
        self._pending: dict[int, bytes] = collections.defaultdict(bytes)
        for name, text in task["files"].items():
            with open(os.path.join(self._scratch, name), "wb", opener=lambda path, flags: os.open(path, flags, 0o700)) as file:
                file.write(text.encode())  # executable, because it may be a script
        self._guard = subprocess.Popen([sys.executable, "-I", "-S", "-c", task["guard"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        argv = [word.replace(task["placeholder"], self._scratch) for word in task["argv"]]
        command = {"argv": argv, "cwd": self._scratch, "env": dict(os.environ), "cpus": task["cpus"]}
        if task["takes_orders"]:
            command["stdin"] = pipe = os.path.join(self._scratch, "orders")
            os.mkfifo(pipe)
            self._orders = os.open(pipe, os.O_RDWR | os.O_CLOEXEC)  # with O_WRONLY, opening would wait for a reader
        self._tell({"commands": [command], "stdout": self._stdout, "stderr": None, "open_files": min(task["open_files"], open_files())})

    def serve(self) -> None:
        try:
            while self._silent_s <= self._silence_s:
                begin = time.monotonic()
                if not self._step():
                    return
                if self._is_heard:
                    self._silent_s += min(time.monotonic() - begin, 2 * SAMPLE_S)  # excludes time in which the agent was suspended
            say("silence")
        finally:
            with contextlib.suppress(BrokenPipeError):
                self._guard.stdin.close()  # type: ignore[union-attr]  # the guard then kills everything below it
            self._guard.wait()
            self._folder.close()

    def _step(self) -> bool:
        """Handle incoming lines and take the next sample. Return false when standard input has closed."""
        signal.setitimer(signal.ITIMER_REAL, 2 * self._silence_s)  # ends the agent if a write blocks because the network failed
        guard = self._guard.stdout.fileno()  # type: ignore[union-attr]
        ready, _, _ = select.select([0, *([] if self._has_ended else [guard])], [], [], SAMPLE_S)
        for source in ready:
            data = os.read(source, 65_536)
            if not data and source == 0:
                return False
            if not data:  # the guard has ended; the agent still answers a request for the report
                self._has_ended = True
                say("gone")
            *lines, self._pending[source] = (self._pending[source] + data).split(b"\n")
            for line in lines:
                self._from_harness(json.loads(line)) if source == 0 else self._from_guard(json.loads(line))
        if self._watch is not None:
            self._watch.take()
        return True

    def _from_harness(self, message: dict[str, Any]) -> None:
        self._silent_s = 0.0
        if "beat" in message:
            say("beat", number=message["beat"])
        elif "order" in message and self._orders is not None:
            os.write(self._orders, message["order"].encode() + b"\n")
        elif "mark" in message and self._watch is not None:
            self._watch.mark()
        elif "mark" in message and self._guard_pid is not None:
            self._watch = Watch(self._guard_pid, self._modules)
        elif "close" in message:
            say("closed", report=self._watch.report() if self._watch is not None else None)
            self._watch = None
        elif "output" in message:
            say("output", text=text_of(self._stdout) or "")
        elif "stop" in message:
            self._tell(message)

    def _from_guard(self, event: dict[str, Any]) -> None:
        if event["event"] == "started":
            self._guard_pid = event["guard"]
            self._watch = Watch(event["guard"], self._modules)
            self._is_heard = True
        elif event["event"] == "exited" and self._watch is not None:
            self._watch.take()
        say(**event)

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the guard has ended, which `_step` reports
            self._guard.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
            self._guard.stdin.flush()  # type: ignore[union-attr]


def loaded(sources: dict[str, str]) -> dict[str, Any]:
    """Build modules from their sources. These are modules of httpbench that use only the standard library."""
    found = {}
    for name, source in sources.items():
        module = types.ModuleType(f"httpbench_{name}")
        sys.modules[module.__name__] = module  # the dataclass decorator looks up its module in `sys.modules`
        exec(compile(source, name, "exec"), module.__dict__)
        found[name] = module
    return found


def main(message: dict[str, Any]) -> None:
    if sys.version_info < (3, 10):
        say("refused", reason=f"its python3 is {sys.version.split()[0]}, and 3.10 is required")
        return
    task = message["task"]
    if task["do"] == "run":
        Session(task, loaded(message["modules"])).serve()
        return
    do = {"look": look, "connect": connect, "install": install, "port": port}[task["do"]]
    try:
        say("seen", **do(task))
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        say("refused", reason=f"{error.strerror or error}{place}")


if __name__ == "__main__":
    main(globals()["MESSAGE"])

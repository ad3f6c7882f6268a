"""One ssh connection to a host, shared by all programs that run there, so that ssh asks for a password only once.

The system's ``ssh`` does all the work: ports, keys and jump hosts come from the user's own configuration. ``HTTPBENCH_SSH`` replaces the
command, for example with ``ssh -F FILE``. The first ssh process is the connection's master. It runs only while its standard input
is open, so it always ends with the harness. If the connection is lost, httpbench reconnects once, without prompting.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from httpbench.errors import LostHostError, UsageError
from httpbench.host.scratch import ScratchFolder

COMMAND = "HTTPBENCH_SSH"
AGENT = Path(__file__).with_name("agent.py")
READY = "httpbench-ready"
HELD_OPEN = f"echo {READY}; exec cat >/dev/null"
LOGIN_LIMIT_S = 120.0
"""Time limit for connecting, in seconds. It leaves the user enough time to type a password."""
AGAIN_LIMIT_S, RETRY_S = 15.0, 1.0
"""Time limit for reconnecting and pause between attempts, in seconds. They leave the network some time to recover."""
END_LIMIT_S = 3.0
SOCKET_FOLDER_MAX = 60
"""Maximum length of the temporary folder's path. The kernel allows 107 bytes for a socket's path, and ssh appends a suffix."""

START = (
    'import sys,json;m=json.loads(sys.stdin.buffer.readline());exec(compile(m["agent"],"agent","exec"),{"__name__":"__main__","MESSAGE":m})'
)
"""Program for python3 on the other host. It reads the agent's source from the first line of its input and runs the agent."""

OPTIONS = (
    *("ServerAliveInterval=1", "ServerAliveCountMax=3", "ConnectTimeout=10", "ClearAllForwardings=yes", "ForwardAgent=no"),
    *("ForwardX11=no", "PermitLocalCommand=no", "RemoteCommand=none", "RequestTTY=no", "LogLevel=ERROR"),
)
"""Options that override the user's ssh configuration."""

BATCH = ("-o", "BatchMode=yes")
"""Options with which ssh asks for nothing."""

REFUSALS = (
    (r"host identification has changed", "the host key of {host} has changed", "find out why before you connect to it again"),
    (
        r"host key verification failed|no .*host key is known",
        "ssh does not know the host key of {host}",
        "run `ssh {host}` once, and check its key",
    ),
    (
        r"permission denied|too many authentication failures",
        "{host} rejects your keys and passwords",
        "make `ssh {host} true` work first",
    ),
    (r"could not resolve|name or service not known", "unknown host {host}", "write it as for ssh, such as user@host"),
)
"""Patterns in ssh's output, each with the error to show and a hint."""


class SshConnection:
    """A connection to a host. Use it as a context manager, which ends everything that the connection started when the block ends."""

    def __init__(self, host: str, config: str | None = None):
        """Prepare a connection to ``host``, which is in the form that ssh accepts. Raises :class:`UsageError` if it isn't a valid host.

        ``config`` is the path of an ssh configuration file that replaces the user's own.
        """
        if not host or host.startswith("-") or re.search(r"\s", host):
            raise UsageError(f'"{host}" is not a host', hint="write it as for ssh, such as user@host")
        self.host = host
        self._ssh = shlex.split(os.environ.get(COMMAND) or "ssh")
        if not self._ssh or shutil.which(self._ssh[0]) is None:
            raise UsageError(f"{self._ssh[0] if self._ssh else COMMAND} is not installed", hint="apt-get install openssh-client")
        if config is not None:
            self._ssh += ["-F", str(Path(config).expanduser())]
        usual = tempfile.gettempdir()
        self._scratch = ScratchFolder("ssh-", usual if len(usual) <= SOCKET_FOLDER_MAX else "/tmp")
        self._folder = self._scratch.path
        self._master: subprocess.Popen[bytes] | None = None
        self.is_gone = False

    def open(self, *, prompts: bool = True) -> None:
        """Connect. Raises :class:`UsageError` with ssh's message if the connection fails.

        With ``prompts``, ssh may ask for a password or a passphrase.
        """
        if said := self._connect(LOGIN_LIMIT_S, *(() if prompts else BATCH)):
            usual = f"ssh cannot connect to {self.host}: {_last_line(said)}", f"make `ssh {self.host} true` work first"
            message, hint = _refusal(said, self.host) or usual
            raise UsageError(message, hint=hint)

    def require(self) -> None:
        """Reconnect if the connection was lost, without prompting. Raises :class:`LostHostError` if that fails."""
        if self._master is not None and self._master.poll() is None:
            return
        self.drop()
        deadline = time.monotonic() + AGAIN_LIMIT_S
        while problem := self._connect(max(deadline - time.monotonic(), RETRY_S), *BATCH):
            if time.monotonic() + RETRY_S > deadline or _refusal(problem, self.host):
                self.is_gone = True
                raise LostHostError(f"ssh cannot connect to load host {self.host} again: {_last_line(problem)}")
            time.sleep(RETRY_S)

    def drop(self) -> None:
        """End a connection that doesn't respond. :meth:`require` opens a new one."""
        self._end(0)

    def launch(self, command: str, stderr: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen[bytes]:
        """Start a shell command on the host, with pipes for its standard input and output. The connection must be open."""
        return subprocess.Popen(
            [*self._words(*BATCH, "-o", "ControlMaster=no"), command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )

    def start(self, message: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        """Start the agent on the host with a task. The connection must be open."""
        agent = self.launch(f"python3 -I -S -c {shlex.quote(START)}")
        assert agent.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # ssh has ended; its exit code will tell the caller why
            agent.stdin.write(json.dumps({"agent": AGENT.read_text(encoding="utf-8"), **message}).encode() + b"\n")
            agent.stdin.flush()
        return agent

    def ask(self, task: Mapping[str, Any], limit_s: float = 60.0) -> dict[str, Any]:
        """Send the agent a task, and return the line that it prints.

        Raises :class:`LostHostError`, or :class:`UsageError` if the agent refuses.
        """
        with self.start({"modules": {}, "task": task}) as agent:
            try:
                stdout, stderr = agent.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                agent.kill()
                raise LostHostError(f"{self.host} did not respond within {limit_s:g} s") from None
        for line in stdout.splitlines():
            if line.startswith(b'{"event"'):
                said: dict[str, Any] = json.loads(line)
                if said["event"] == "refused":
                    raise UsageError(f"{self.host} cannot be a load host: {said['reason']}")
                return said
        if agent.returncode == 127:
            raise UsageError(f"{self.host} has no python3", hint="install Python 3.10 or newer on it: apt-get install python3-minimal")
        raise LostHostError(f"ssh to {self.host} failed: {_last_line(stderr.decode(errors='replace')) or agent.returncode}")

    def setting(self, name: str) -> str | None:
        """Return a setting from the user's ssh configuration for the host, such as ``hostname``."""
        done = subprocess.run([*self._ssh, "-G", "--", self.host], capture_output=True, text=True, timeout=10, check=False)
        found = re.search(rf"^{name} (.+)$", done.stdout, re.MULTILINE)
        return found[1] if found else None

    def close(self) -> None:
        """End the connection and everything that runs over it."""
        self._end(END_LIMIT_S)
        self._scratch.close()

    def __enter__(self) -> SshConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self, limit_s: float, *options: str) -> str | None:
        """Start the master. Returns ssh's message if that fails, otherwise ``None``."""
        (self._folder / "socket").unlink(missing_ok=True)
        errors = self._folder / "errors"
        words = self._words(*options, "-o", "ControlMaster=yes", "-o", "ControlPersist=no")
        with errors.open("wb") as stderr:
            # The harness decides when to end the master, so the master ignores Ctrl-C. It keeps the terminal to ask for a password.
            self._master = subprocess.Popen(
                ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *words, HELD_OPEN],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        if self._is_ready(limit_s):
            return None
        code = self._end(0) or 0
        said = errors.read_text(errors="replace")
        return said.strip() or (f"no response within {limit_s:g} s" if code < 0 else f"ssh ended with exit code {code}")

    def _is_ready(self, limit_s: float) -> bool:
        """Return whether the master can run a command on the host in time. The host's start-up files may print other lines first."""
        assert self._master is not None and self._master.stdout is not None
        output, said, deadline = self._master.stdout.fileno(), b"", time.monotonic() + limit_s
        while READY.encode() not in said.splitlines():
            ready, _, _ = select.select([output], [], [], max(deadline - time.monotonic(), 0))
            data = os.read(output, 4096) if ready else b""
            if not data:
                return False
            said = (said + data)[-65_536:]
        return True

    def _end(self, limit_s: float) -> int | None:
        """End the master, and kill it after ``limit_s`` seconds. Return its exit code, or ``None`` if there is no master."""
        master, self._master = self._master, None
        return end(master, limit_s) if master else None

    def _words(self, *options: str) -> list[str]:
        fixed = [word for option in OPTIONS for word in ("-o", option)]
        return [*self._ssh, *options, *fixed, "-o", f"ControlPath={self._folder / 'socket'}", "--", self.host]


def end(process: subprocess.Popen[bytes], limit_s: float) -> int:
    """Close the pipes of a process, wait for at most ``limit_s`` seconds, and kill it if it is still running. Returns its exit code."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _refusal(said: str, host: str) -> tuple[str, str] | None:
    """Return the error and hint for ssh's output if another attempt would fail, too. Otherwise, return ``None``."""
    found = ((message, hint) for pattern, message, hint in REFUSALS if re.search(pattern, said, re.IGNORECASE))
    return next(((message.format(host=host), hint.format(host=host)) for message, hint in found), None)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""

"""Profilers that sample one slice at a time and then write folded stacks: py-spy, and the user's own command."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from httpbench.errors import UsageError
from httpbench.host.commands import capture

PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
PID, SECONDS = "{pid}", "{seconds}"
REAL_TIME = ("chrt", "--fifo", "1")
"""Without it, py-spy would wait for the CPU until the program sleeps or has used up its time, and miss what it did."""


@dataclass(frozen=True, slots=True)
class PySpy:
    """py-spy, which reads the stacks of a Python program from its memory. It samples all processes of the program until SIGINT."""

    program: str
    name: str = "py-spy"
    rate_hz: int = 199
    """Samples per second. The program is stopped for each sample, for about a tenth of a millisecond."""
    is_ready: str = "Sampling process"
    """Words in its output once it samples."""
    before: tuple[str, ...] = ()
    """Command that runs it with a real-time priority, if this user may do that."""

    @classmethod
    def found(cls) -> PySpy | str:
        """Return py-spy from this environment or from PATH. If it is missing or this user may not use it, return the reason and the fix."""
        beside = Path(sys.executable).with_name("py-spy")
        program = str(beside) if os.access(beside, os.X_OK) else shutil.which("py-spy")
        if program is None:
            return "py-spy is missing; fix: pip install 'httpbench[profile]'"
        if os.geteuid() and _ptrace_scope():
            return "py-spy may not read other programs; fix: sysctl kernel.yama.ptrace_scope=0 as root"
        done = capture([*REAL_TIME, "true"])
        return cls(program, before=REAL_TIME if done and done.returncode == 0 else ())

    def argv(self, pid: int, output: Path) -> tuple[str, ...]:
        """Return the command that samples a process and all processes below it."""
        options = ("--rate", str(self.rate_hz), "--format", "raw", "--nolineno", "--subprocesses", "--output", str(output))
        return (*self.before, self.program, "record", "--pid", str(pid), *options)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command of the user's that samples for a number of seconds and writes folded stacks to its standard output."""

    text: str

    def __post_init__(self) -> None:
        if PID not in self.text:
            raise UsageError(f"--profiler '{self.text}' doesn't name the process", hint=f"write {PID} where its process id belongs")

    @property
    def name(self) -> str:
        """Name of the program."""
        return Path(self.text.split()[0]).name

    def argv(self, pid: int, seconds: int) -> tuple[str, ...]:
        """Return the command that samples a process for a number of seconds."""
        return ("/bin/sh", "-c", self.text.replace(PID, str(pid)).replace(SECONDS, str(seconds)))


def _ptrace_scope() -> int:
    """Return 0 if users may read the memory of their own programs."""
    try:
        return int(PTRACE_SCOPE.read_text())
    except (OSError, ValueError):
        return 0

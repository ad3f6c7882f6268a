"""Tests of a harness that is interrupted or killed: finished trials are kept, and no process is left."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from pathlib import Path

from httpbench.isolate import guard
from tests.integration.faults.fault import GOOD, OTHER, Fault, ended
from tests.waiting import until

LONG = ("-d", "1s", "--warmup", "0s", "--rate", "200", GOOD, OTHER, "test/misbehaving/resets")
"""Arguments for a run of one round. A run of several rounds might end early, after its first round, before the test interrupts it."""


def running(fault: Fault, **options: object) -> subprocess.Popen[str]:
    """Start a run and wait until one trial is stored and the next one is running."""
    process = fault.start(*LONG, **options)
    under_way(fault)
    return process


def under_way(fault: Fault) -> None:
    until(fault.stored, limit_s=60)
    until(fault.runs_target, limit_s=60)


def is_interrupted_by(fault: Fault, number: signal.Signals) -> None:
    process = running(fault)
    process.send_signal(number)
    end = fault.end(process)
    fault.holds(end, trials=len(fault.stored()))
    assert "misbehaving" in end.output  # the table of finished trials
    assert len(fault.exported()) == len(fault.stored()) >= 1
    assert fault.harness.runs()[0]["status"] == "interrupted"


def test_harness_gets_sigint(fault: Fault) -> None:
    is_interrupted_by(fault, signal.SIGINT)


def test_harness_gets_sigterm(fault: Fault) -> None:
    is_interrupted_by(fault, signal.SIGTERM)


def test_harness_gets_sighup(fault: Fault) -> None:
    is_interrupted_by(fault, signal.SIGHUP)


def test_harness_is_killed(fault: Fault) -> None:
    """The killed harness can't print anything, but `report` shows the finished trials."""
    process = running(fault)
    process.kill()
    out, err = process.communicate(timeout=10)
    until(lambda: not fault.processes(), limit_s=2)
    said = fault.say("report")
    fault.holds(ended(process.returncode, out + err + said), trials=len(fault.stored()))
    assert "misbehaving" in said
    assert fault.harness.runs()[0]["status"] == "interrupted"


def test_harness_is_killed_while_targets_are_frozen(fault: Fault) -> None:
    """The test freezes the target with SIGSTOP and, if the target has its own control group, also through that group."""
    process = running(fault)
    targets = {pid: group_of(pid) for pid, name in fault.processes().items() if " server.py " in name}
    groups = {group for group in targets.values() if group.name.startswith(guard.GROUP_PREFIX)}
    for pid in targets:
        os.kill(pid, signal.SIGSTOP)
    for group in groups:
        (group / "cgroup.freeze").write_text("1")
    process.kill()
    out, err = process.communicate(timeout=10)
    until(lambda: not fault.processes(), limit_s=2)
    said = fault.say("report")
    fault.holds(ended(process.returncode, out + err + said), trials=len(fault.stored()))
    assert targets
    assert not any(group.exists() for group in groups)


def group_of(pid: int) -> Path:
    """Return the folder of a process's control group (version 2), whether or not it exists."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), "/none")
    mount = next((Path(path) for path in guard.CGROUP_MOUNTS if Path(path, "cgroup.procs").exists()), Path("/none"))
    return mount / own.lstrip("/")


def test_terminal_is_gone(fault: Fault) -> None:
    """Close a real terminal, as when an SSH connection breaks. The export is still written, and `report` shows the tables later."""
    master, slave = pty.openpty()

    take_terminal = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"
    process = fault.start(*LONG, start_new_session=True, first=take_terminal, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    shown = read_until_under_way(fault, master)
    os.close(master)
    code = process.wait(30)
    said = fault.say("report")
    fault.holds(ended(code, shown + said), trials=len(fault.stored()))
    assert len(fault.exported()) == len(fault.stored()) >= 1
    assert "misbehaving" in said


def read_until_under_way(fault: Fault, terminal: int) -> str:
    """Return the run's output up to the moment when one trial is stored and the next one is running."""
    os.set_blocking(terminal, False)
    shown = bytearray()
    deadline = time.monotonic() + 60
    while not fault.stored() or not fault.runs_target():
        assert time.monotonic() < deadline, shown.decode()
        try:
            shown += os.read(terminal, 65_536)
        except OSError:
            time.sleep(0.05)
    return shown.decode(errors="replace").replace("\r", "\n")

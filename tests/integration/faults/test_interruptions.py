"""The harness is ended from outside. What it had measured is stored and shown, and nothing goes on running."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import termios
import time

from tests.integration.faults.fault import GOOD, OTHER, Fault, ended
from tests.waiting import until

LONG = ("-d", "1s", "--warmup", "0s", GOOD, OTHER, "test/misbehaving/resets")  # a run may end by itself after its first round


def running(fault: Fault, **options: object) -> subprocess.Popen[str]:
    """A run of which one trial is stored, and another is under way."""
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
    assert "misbehaving" in end.output  # the table
    assert len(fault.exported()) == len(fault.stored()) >= 1
    assert fault.harness.runs()[0]["status"] == "interrupted"


def test_harness_gets_sigint(fault: Fault) -> None:
    is_interrupted_by(fault, signal.SIGINT)


def test_harness_gets_sigterm(fault: Fault) -> None:
    is_interrupted_by(fault, signal.SIGTERM)


def test_harness_gets_sighup(fault: Fault) -> None:
    is_interrupted_by(fault, signal.SIGHUP)


def test_harness_is_killed(fault: Fault) -> None:
    """Nobody is left to say anything: `report` says it later."""
    process = running(fault)
    process.kill()
    out, err = process.communicate(timeout=10)
    until(lambda: not fault.processes(), limit_s=2)
    said = fault.say("report")
    fault.holds(ended(process.returncode, out + err + said), trials=len(fault.stored()))
    assert "misbehaving" in said
    assert fault.harness.runs()[0]["status"] == "interrupted"


def test_terminal_is_gone(fault: Fault) -> None:
    """A real terminal is closed, as when a connection over SSH breaks. The export is written all the same; `report` says the rest later."""
    master, slave = pty.openpty()

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    argv = {"stdin": slave, "stdout": slave, "stderr": slave}
    process = fault.start(*LONG, start_new_session=True, preexec_fn=take_terminal, **argv)
    os.close(slave)
    shown = read_until_under_way(fault, master)
    os.close(master)
    code = process.wait(30)
    said = fault.say("report")
    fault.holds(ended(code, shown + said), trials=len(fault.stored()))
    assert len(fault.exported()) == len(fault.stored()) >= 1
    assert "misbehaving" in said


def read_until_under_way(fault: Fault, terminal: int) -> str:
    """What the run has shown until one trial is stored, and another is under way."""
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

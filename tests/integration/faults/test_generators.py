"""Tests of faults in the load generator."""

from __future__ import annotations

import os
import re
import shlex
import signal
from pathlib import Path

import pytest

from httpbench.load import programs
from tests.integration.faults.fault import GOOD, OTHER, Fault
from tests.waiting import until


def running(fault: Fault) -> int:
    """Wait until the load generator runs and return its process id."""
    generator = re.compile(rf"{re.escape(str(programs.require('httpbench-loadgen')))} .*http://")
    return until(lambda: next((pid for pid, name in fault.processes().items() if generator.match(name)), None), limit_s=60) or 0


def test_generator_dies(fault: Fault) -> None:
    process = fault.start("-d", "20s", GOOD)
    os.kill(running(fault), signal.SIGKILL)
    fault.holds(fault.end(process), trials=1)


@pytest.mark.slow
def test_generator_hangs(fault: Fault) -> None:
    process = fault.start("-d", "1s", GOOD, OTHER)
    os.kill(running(fault), signal.SIGSTOP)
    fault.holds(fault.end(process), trials=2)
    assert [*fault.verdicts(GOOD), *fault.verdicts(OTHER)].count("failed") == 1


def test_generator_lies(fault: Fault) -> None:
    """In the first trial, the load generator prints JSON with an invalid structure."""
    real = shlex.quote(str(programs.require("httpbench-loadgen")))
    lied = fault.home / "lied"
    script = f"""#!/bin/sh
case "$*" in *--version*) exec {real} --version;; esac
[ -e {lied} ] && exec {real} "$@"
touch {lied}
echo '{{"schema": "httpbench-loadgen/1", "version": "0.1.0", "duration_s": "a while", "throughput_rps": -7}}'
"""
    folder = fault.home / "programs"
    folder.mkdir()
    program = Path(folder / "httpbench-loadgen")
    program.write_text(script)
    program.chmod(0o755)
    end = fault.end(fault.start(GOOD, OTHER, env={**fault.env, "HTTPBENCH_PROGRAMS": str(folder)}))
    fault.holds(end, trials=2)
    assert [*fault.verdicts(GOOD), *fault.verdicts(OTHER)].count("failed") == 1

"""Tests of faults of a load host and of the connection to it, in network namespaces, which require root."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests import namespaces
from tests.integration.faults.fault import GOOD, Fault, ended
from tests.namespaces import Host
from tests.waiting import until

pytestmark = pytest.mark.slow

TWO_TRIALS = ("-d", "3s", "--rounds", "2", "--timeout", "10s", "-r", "load1", "--install", GOOD)


@contextmanager
def loaded(fault: Fault) -> Iterator[tuple[Host, subprocess.Popen[str]]]:
    """Start a run of two trials and wait until the load host sends the first load."""
    with namespaces.network(fault.home / "network") as network:
        fault.happens_in(network)
        process = fault.start(*TWO_TRIALS)
        (host,) = network.load_hosts
        until(lambda: host.programs("--progress json") or process.poll() is not None, limit_s=60)
        yield host, process


def holds_and_goes_on(fault: Fault, process: subprocess.Popen[str]) -> None:
    end = fault.end(process)
    fault.holds(end, trials=2)
    first, second = (trial["verdict"]["reasons"] for _, trial in fault.exported())
    assert first and "was lost" in first[0]
    assert "was lost" not in " ".join(second)


def test_ssh_is_lost(fault: Fault) -> None:
    with loaded(fault) as (_, process):
        (master,) = (pid for pid, words in fault.processes().items() if "ControlMaster=yes" in words)
        os.kill(master, signal.SIGKILL)
        holds_and_goes_on(fault, process)


def test_network_to_load_host_is_cut(fault: Fault) -> None:
    with loaded(fault) as (host, process):
        host.cut()
        until(lambda: not host.programs("--progress json"), limit_s=10)
        host.join()
        holds_and_goes_on(fault, process)


def test_load_host_loses_its_agent(fault: Fault) -> None:
    with loaded(fault) as (host, process):
        for agent in host.programs('"agent","exec"'):
            os.kill(agent, signal.SIGKILL)
        holds_and_goes_on(fault, process)


def test_harness_of_a_remote_load_is_killed(fault: Fault) -> None:
    with loaded(fault) as (host, process):
        until(fault.stored, limit_s=60)
        until(lambda: host.programs("--progress json"), limit_s=60)
        process.kill()
        out, err = process.communicate(timeout=10)
        said = fault.say("report")
        fault.holds(ended(process.returncode, out + err + said), trials=len(fault.stored()))

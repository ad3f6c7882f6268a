"""Tests of the ssh connection to a load host: ssh errors become one sentence, the agent responds, a lost connection is restored once."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from httpbench.errors import LostHostError, UsageError
from httpbench.isolate import ssh
from httpbench.isolate.ssh import SshConnection
from tests.fake_ssh import fake_ssh, refusing_ssh
from tests.programs import program
from tests.waiting import until

pytestmark = pytest.mark.slow


def ask_for_files(connection: SshConnection, *files: str) -> dict[str, str]:
    task = {"do": "look", "files": list(files), "programs": [], "commands": []}
    found: dict[str, str] = connection.ask(task)["files"]
    return found


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("Host key verification failed.", "ssh does not know the host key of load1"),
        ("root@load1: Permission denied (publickey).", "load1 rejects your keys and passwords"),
        ("ssh: Could not resolve hostname load1: Name or service not known", "unknown host load1"),
        (
            "ssh: connect to host load1 port 22: No route to host",
            "ssh cannot connect to load1: ssh: connect to host load1 port 22: No route",
        ),
    ],
)
def test_a_failed_connection_is_explained_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, message: str) -> None:
    monkeypatch.setenv("HTTPBENCH_SSH", refusing_ssh(tmp_path, said))
    with SshConnection("load1") as connection, pytest.raises(UsageError) as raised:
        connection.open()
    assert raised.value.message.startswith(message) and raised.value.hint


@pytest.mark.parametrize("name", ["", "-oProxyCommand=touch /tmp/x", "two words"])
def test_an_invalid_host_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a host"):
        SshConnection(name)


def test_output_of_start_up_files_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = fake_ssh(tmp_path)
    monkeypatch.setenv("HTTPBENCH_SSH", program(tmp_path, "talkative", f'echo "Welcome!"; exec {fake} "$@"'))
    with SshConnection("load1") as connection:
        connection.open()
        assert ask_for_files(connection, "/proc/loadavg").keys() == {"/proc/loadavg"}


def test_files_are_read_by_pattern_and_missing_ones_are_omitted(connection: SshConnection) -> None:
    found = ask_for_files(connection, "/proc/sys/net/core/somax*", "/nowhere")
    assert found["/proc/sys/net/core/somaxconn"].strip().isdigit() and len(found) == 1


def test_a_host_without_python_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = fake_ssh(tmp_path)
    program(tmp_path, "python3", "exit 127")
    monkeypatch.setenv("HTTPBENCH_SSH", program(tmp_path, "without", f'PATH={tmp_path}:$PATH exec {fake} "$@"'))
    with SshConnection("load1") as connection:
        connection.open()
        with pytest.raises(UsageError, match="load1 has no python3"):
            ask_for_files(connection)


def test_a_lost_connection_is_restored(connection: SshConnection) -> None:
    before = connection._master
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    before.wait()
    connection.require()
    assert connection._master is not None and connection._master.pid != before.pid
    assert ask_for_files(connection, "/proc/loadavg")


def test_a_connection_that_cannot_be_restored_is_lost(tmp_path: Path, connection: SshConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh, "AGAIN_LIMIT_S", 0.5)
    refusing_ssh(tmp_path, "ssh: connect to host load1 port 22: Connection refused")  # replaces the fake ssh that could connect
    connection.drop()
    with pytest.raises(LostHostError, match=r"cannot connect to load host load1 again: .*Connection refused"):
        connection.require()
    assert connection.is_gone


def test_the_connection_ends_with_its_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPBENCH_SSH", fake_ssh(tmp_path))
    with SshConnection("load1") as connection:
        connection.open()
        master, folder = connection._master, connection._folder
        assert master is not None and folder.exists()
    until(lambda: master.poll() is not None)
    assert not folder.exists()

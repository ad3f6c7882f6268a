"""Tests that ssh asks for a secret only once per run, whatever happens."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.integration.load_hosts.hosts import FROM_LOAD1, GOOD, QUICK, TARGETS, Hosts
from tests.waiting import until

pytestmark = pytest.mark.slow

SECRET = "not-a-secret"
PORT = 2222
LIMIT_S = 120.0
ROUNDS = ("--rounds", "2")
BY_PASSWORD = ("-o", "PubkeyAuthentication=no", "-o", "PreferredAuthentications=password", "-p", str(PORT))


@dataclass(slots=True)
class Terminal:
    """A run on a pseudo-terminal, with a simulated user who enters the secret at every prompt."""

    pid: int
    file: int
    said: bytes = b""
    answered: int = 0

    def read(self) -> bool:
        """Read the available output. Return whether the terminal is still open."""
        try:
            data = os.read(self.file, 65_536) if select.select([self.file], [], [], 0.2)[0] else b" "
        except OSError:  # a closed pseudo-terminal raises this error
            return False
        self.said += data
        if self.asked > self.answered:
            os.write(self.file, SECRET.encode() + b"\n")
            self.answered += 1
        return True

    @property
    def asked(self) -> int:
        return self.said.count(b"passphrase for key") + self.said.count(b"password:")

    def exit_code(self) -> int:
        deadline = time.monotonic() + LIMIT_S
        while self.read() and time.monotonic() < deadline:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def start(hosts: Hosts, *words: str, ssh: str | None = None) -> Terminal:
    argv = hosts.harness.argv("bench", *TARGETS, GOOD, *QUICK, *ROUNDS, *FROM_LOAD1, *words)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(argv[0], argv, {**hosts.env, **({"HTTPBENCH_SSH": ssh} if ssh else {})})
    return Terminal(pid, terminal)


@contextmanager
def password_server(hosts: Hosts) -> Iterator[str]:
    """Start an SSH server that accepts a password from its own /etc/shadow, and yield the ssh command for it."""
    if shutil.which("openssl") is None:
        pytest.skip("not installed: openssl, which makes the hash of a password")
    made = subprocess.run(["openssl", "passwd", "-6", SECRET], capture_output=True, text=True, check=True).stdout.strip()
    shadow = hosts.load1.folder / "shadow"
    shadow.write_text(f"root:{made}:20000:0:99999:7:::\n")
    shadow.chmod(0o600)
    settings = {"Port": PORT, "PasswordAuthentication": "yes", "PubkeyAuthentication": "no"}
    with hosts.network.ssh_server(hosts.load1, "by-password", shadow=shadow, **settings):
        yield f"ssh {' '.join(BY_PASSWORD)} -F {hosts.network.ssh_config}"


def test_ssh_asks_for_a_passphrase_once(hosts: Hosts) -> None:
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", SECRET, "-f", hosts.network.key], check=True)
    run = start(hosts)
    assert run.exit_code() == 0, run.said.decode(errors="replace")
    assert run.said.count(b"passphrase for key") == 1


def test_ssh_asks_for_a_password_once(hosts: Hosts) -> None:
    with password_server(hosts) as ssh:
        run = start(hosts, ssh=ssh)
        assert run.exit_code() == 0, run.said.decode(errors="replace")
    assert run.said.count(b"password:") == 1


def test_a_new_connection_does_not_prompt(hosts: Hosts) -> None:
    """The user may be away and unable to enter the password again. The run therefore ends, and keeps its earlier trials."""
    with password_server(hosts) as ssh:
        run = start(hosts, "-d", "3s", "--rounds", "3", ssh=ssh)
        until(lambda: run.read() and hosts.load1.programs("--progress json"), 60)
        (master,) = hosts.masters()
        os.kill(master, signal.SIGKILL)
        assert run.exit_code() == 1, run.said.decode(errors="replace")
    assert run.asked == 1
    assert b"stopped: the load host was lost, and a new connection to it failed" in run.said, run.said.decode()

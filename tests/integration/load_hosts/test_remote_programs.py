"""Tests of the load generators on a load host: httpbench copies its own there if the version differs; the user must install others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from httpbench import load
from httpbench.cluster.remote_programs import found_there, names_of
from httpbench.errors import UsageError
from httpbench.isolate.ssh import SshConnection
from httpbench.load import LoadGenerator, programs
from tests.fake_ssh import fake_ssh
from tests.programs import program

pytestmark = pytest.mark.slow

VERSION = "0.1.0"


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshConnection]:
    """Connect to a host with its own cache and a folder that comes first in PATH. The native load generator is a script."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.setenv(programs.OVERRIDE, str(here))
    program(here, "httpbench-loadgen", f"echo httpbench-loadgen {VERSION}")
    fake = fake_ssh(tmp_path)
    script = f'PATH={there}:/usr/bin:/bin XDG_CACHE_HOME={tmp_path}/cache exec {fake} "$@"'
    monkeypatch.setenv("HTTPBENCH_SSH", program(tmp_path, "other-host", script))
    with SshConnection("load1") as connection:
        connection.open()
        yield connection


def found(connection: SshConnection, *names: str, install: bool = False) -> dict[str, LoadGenerator]:
    generators = [load.get(name) for name in names]
    task = {"do": "look", "files": [], "programs": names_of(generators), "commands": []}
    seen: dict[str, Any] = connection.ask(task)
    return found_there(connection, seen, generators, print if install else None)


def test_our_generator_in_path_is_used_if_it_has_the_same_version(tmp_path: Path, connection: SshConnection) -> None:
    path = program(tmp_path / "there", "httpbench-loadgen", f"echo httpbench-loadgen {VERSION}")
    native = found(connection, "native")["native"]
    assert (native.program(), native.version()) == (path, VERSION)
    assert load.get("native").program() != path


def test_another_version_of_our_generator_is_refused(tmp_path: Path, connection: SshConnection) -> None:
    path = program(tmp_path / "there", "httpbench-loadgen", "echo httpbench-loadgen 0.0.9")
    with pytest.raises(UsageError, match=rf"{path} on load1 is version 0\.0\.9, and 0\.1\.0 is required") as raised:
        found(connection, "native")
    assert "--install" in (raised.value.hint or "")


def test_a_host_without_our_generator_is_refused(connection: SshConnection) -> None:
    with pytest.raises(UsageError, match="load1 has no httpbench-loadgen") as raised:
        found(connection, "native")
    assert "--install" in (raised.value.hint or "")


def test_our_generator_is_copied_once_and_reused(tmp_path: Path, connection: SshConnection) -> None:
    path = found(connection, "native", install=True)["native"].program()
    assert path.startswith(str(tmp_path / "cache/httpbench/programs"))
    assert Path(path).read_bytes() == (tmp_path / "here/httpbench-loadgen").read_bytes()
    written = Path(path).stat().st_mtime_ns
    for install in (False, True):
        assert found(connection, "native", install=install)["native"].program() == path
    assert Path(path).stat().st_mtime_ns == written
    assert len(list(Path(path).parent.iterdir())) == 1


def test_a_copy_that_does_not_run_there_is_refused(tmp_path: Path, connection: SshConnection) -> None:
    broken = 'case "$0" in */cache/*) exit 127;; esac; echo httpbench-loadgen ' + VERSION
    program(tmp_path / "here", "httpbench-loadgen", broken)
    with pytest.raises(UsageError, match="the httpbench-loadgen of this machine does not run on load1"):
        found(connection, "native", install=True)


def test_other_generators_are_searched_in_the_hosts_path(tmp_path: Path, connection: SshConnection) -> None:
    path = program(tmp_path / "there", "wrk", "echo wrk 4.9.9; exit 1")
    generators = found(connection, "wrk")
    assert (generators["wrk"].program(), generators["wrk"].version()) == (path, "4.9.9")
    assert "native" not in generators  # the native generator would be needed only for a warm-up


def test_a_missing_generator_is_reported_with_its_package(tmp_path: Path, connection: SshConnection) -> None:
    with pytest.raises(UsageError, match="load1 has no autocannon in its PATH") as raised:
        found(connection, "autocannon")
    assert (raised.value.hint or "").startswith("install it there: npm install")

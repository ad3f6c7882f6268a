"""Tests of the script that installs packages, run with an apt-get that only records its arguments."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import pytest

from httpbench.errors import RequirementError
from httpbench.host.tools import packages


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fake a machine on which we are root, with its own apt-get and policy script."""
    monkeypatch.setattr(packages, "POLICY", str(tmp_path / "policy-rc.d"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    apt_get(tmp_path, "0")
    return tmp_path


def apt_get(folder: Path, exit_code: str) -> None:
    """Write a fake apt-get that records its arguments and the policy script's current exit code."""
    path = folder / "apt-get"
    path.write_text(f'#!/bin/sh\necho "$@" >>{folder}/arguments\n{folder}/policy-rc.d; echo $? >>{folder}/policy\nexit {exit_code}\n')
    path.chmod(0o755)


def test_packages_are_installed_while_services_may_not_start(debian: Path) -> None:
    packages.install(["nginx-light", "wrk"])
    assert (debian / "arguments").read_text().splitlines() == [
        "update --quiet",
        "install --yes --quiet --no-install-recommends -- nginx-light wrk",
    ]
    assert (debian / "policy").read_text().splitlines()[-1] == "101"
    assert not (debian / "policy-rc.d").exists()


def test_an_existing_policy_stays(debian: Path) -> None:
    policy = debian / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 0\n")
    policy.chmod(0o755)
    packages.install(["wrk"])
    assert (debian / "policy").read_text().splitlines()[-1] == "0"
    assert policy.read_text() == "#!/bin/sh\nexit 0\n"


def test_a_failure_has_the_command_for_root_as_its_hint(debian: Path) -> None:
    apt_get(debian, "100")
    with pytest.raises(RequirementError) as caught:
        packages.install(["wrk"])
    assert caught.value.message.startswith("packages could not be installed (exit code 100)")
    assert (caught.value.hint or "").startswith("as root: apt-get install") and (caught.value.hint or "").endswith(" wrk")
    assert not (debian / "policy-rc.d").exists()


def test_other_users_require_sudo(debian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(RequirementError, match="only root can install packages, and sudo is missing") as caught:
        packages.install(["wrk"])
    assert (caught.value.hint or "").startswith("as root: apt-get install")
    assert not (debian / "arguments").exists()


def test_sudo_asks_for_a_password_only_on_a_terminal(debian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    sudo = debian / "sudo"
    sudo.write_text(f'#!/bin/sh\necho "$1" >{debian}/sudo-option\nshift\nexec "$@"\n')
    sudo.chmod(0o755)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    packages.install(["wrk"])
    assert (debian / "sudo-option").read_text() == "--non-interactive\n"
    assert (debian / "arguments").exists()

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.host import Met, Unmet, check, check_all
from httpbench.host.tools import requirements
from httpbench.host.tools.requirements import first_version, is_older
from httpbench.model import Requirement
from tests.programs import program
from tests.waiting import gone, until

INSTALL = "https://example.org/install"


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a folder for programs first in PATH, and simulate a Debian with package lists."""
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "deb_Packages").touch()
    monkeypatch.setattr(requirements, "PACKAGE_LISTS", lists)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    requirements.candidates.clear()
    return tmp_path


def as_user(monkeypatch: pytest.MonkeyPatch, uid: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)


def candidate(folder: Path, version: str) -> None:
    shown = f"  Installed: (none)\\n  Candidate: {version}\\n  Version table:\\n     {version} 500\\n"
    program(folder, "apt-cache", f"echo x >> {folder}/runs; shift 2; for name; do printf '%s:\\n{shown}' $name; done")


def test_a_program_that_is_new_enough_meets_the_requirement(bin_folder: Path) -> None:
    path = program(bin_folder, "frobc", "echo 'frobc, the frob compiler (1.30.2), built by gcc 12.2'")
    assert check(Requirement(program="frobc", version="1.30", install=INSTALL)) == Met("1.30.2", path)


def test_a_version_on_standard_error_counts_despite_a_failure(bin_folder: Path) -> None:
    path = program(bin_folder, "frobtool", "echo 'frobtool 4.1.0 [epoll]' >&2; exit 1")
    needed = Requirement(program="frobtool", version="4", version_command=("frobtool", "-v"), install=INSTALL)
    assert check(needed) == Met("4.1.0", path)


def test_versions_are_compared_as_numbers(bin_folder: Path) -> None:
    path = program(bin_folder, "frobc", "echo 1.9")
    assert check(Requirement(program="frobc", version="1.10", install=INSTALL)) == Unmet(f"{path} is version 1.9", INSTALL)


def test_a_missing_program_has_debians_package_as_its_fix(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candidate(bin_folder, "1:1.30.0+dfsg-2")
    needed = Requirement(program="no-such-frob", version="1.30", apt=("frob", "libfrob-dev"), install=INSTALL)
    as_user(monkeypatch, 0)
    assert check(needed) == Unmet("not found in PATH", "apt-get install frob libfrob-dev")
    as_user(monkeypatch, 1000)
    requirements._check.cache_clear()
    assert check(needed) == Unmet("not found in PATH", "sudo apt-get install frob libfrob-dev")


def test_the_languages_own_installer_is_the_fix_if_debians_package_is_too_old(bin_folder: Path) -> None:
    candidate(bin_folder, "2:1.19~1")
    found = check(Requirement(program="no-such-frob", version="1.25", apt=("frob",), install=INSTALL))
    assert found == Unmet("not found in PATH", INSTALL)


def test_a_package_that_is_too_old_is_the_last_resort(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candidate(bin_folder, "1.19-3")
    as_user(monkeypatch, 0)
    found = check(Requirement(program="no-such-frob", version="1.25", apt=("frob",)))
    assert isinstance(found, Unmet)
    assert found.fix.startswith("apt-get install frob  # installs 1.19; 1.25 or newer is required")


def test_a_package_missing_from_debian_is_not_suggested(bin_folder: Path) -> None:
    program(bin_folder, "apt-cache", "echo 'N: Unable to locate package frob' >&2")
    found = check(Requirement(program="no-such-frob", apt=("frob",), install=INSTALL))
    assert found == Unmet("not found in PATH", INSTALL)


def test_a_default_package_has_a_version_of_its_own(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candidate(bin_folder, "2:1.17-74")
    as_user(monkeypatch, 0)
    found = check(Requirement(program="no-such-java", version="11", apt=("default-jre-headless",)))
    assert found == Unmet("not found in PATH", "apt-get install default-jre-headless")


def test_without_package_lists_the_fix_updates_them_first(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bin_folder, "apt-cache", "exit 0")
    (bin_folder / "lists" / "deb_Packages").unlink()
    as_user(monkeypatch, 0)
    found = check(Requirement(program="no-such-frob", apt=("frob",)))
    assert found == Unmet("not found in PATH", "apt-get update && apt-get install frob")


def test_a_program_that_prints_no_version_is_unmet(bin_folder: Path) -> None:
    program(bin_folder, "mute", "true")
    found = check(Requirement(program="mute", version="1", install=INSTALL))
    assert isinstance(found, Unmet)
    assert found.reason == f"its version is unknown: `{bin_folder}/mute --version` printed no number"


def test_an_unknown_version_is_fine_if_none_is_required(bin_folder: Path) -> None:
    path = program(bin_folder, "mute", "exit 3")
    assert check(Requirement(program="mute", install=INSTALL)) == Met(None, path)


def test_a_program_that_hangs_is_killed_with_its_children(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "VERSION_LIMIT_S", 2.0)
    program(bin_folder, "hangs", f"sleep 60 & echo $! > {bin_folder}/child; wait")
    begin = time.monotonic()
    found = check(Requirement(program="hangs", version="1", install=INSTALL))
    assert time.monotonic() - begin < 30
    assert isinstance(found, Unmet)
    assert "did not end within" in found.reason
    child = int((bin_folder / "child").read_text())
    until(lambda: gone([child]))


def test_files_are_found_by_pattern(tmp_path: Path) -> None:
    (tmp_path / "libfrob.so.3").touch()
    assert check(Requirement(file=f"{tmp_path}/libfrob.so*", install=INSTALL)) == Met(None, f"{tmp_path}/libfrob.so.3")
    missing = check(Requirement(file=f"{tmp_path}/frob.h", install=INSTALL))
    assert missing == Unmet(f"no file matches {tmp_path}/frob.h", INSTALL)


def test_a_program_is_run_once(bin_folder: Path) -> None:
    program(bin_folder, "counted", f"echo x >> {bin_folder}/runs; echo 1.0")
    needed = Requirement(program="counted", install=INSTALL)
    assert check(needed) == check(needed)
    assert (bin_folder / "runs").read_text() == "x\n"


def test_apt_is_asked_once_about_all_packages(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candidate(bin_folder, "1:1.30.0-2")
    as_user(monkeypatch, 0)
    program(bin_folder, "frobc", "echo 1.0")
    found = check_all([Requirement(program=name, apt=(f"{name}-dev", "lib"), install=INSTALL) for name in ("no-frob", "frobc", "no-grob")])
    assert [outcome.fix for outcome in found if isinstance(outcome, Unmet)] == [
        "apt-get install no-frob-dev lib",
        "apt-get install no-grob-dev lib",
    ]
    assert (bin_folder / "runs").read_text() == "x\n"


def test_programs_run_in_parallel_and_keep_their_order(bin_folder: Path) -> None:
    for number in range(6):
        program(bin_folder, f"slow{number}", f"sleep 0.3; echo {number}.0")
    begin = time.monotonic()
    found = check_all([Requirement(program=f"slow{number}", install=INSTALL) for number in range(6)])
    assert [outcome.version for outcome in found if isinstance(outcome, Met)] == [f"{number}.0" for number in range(6)]
    assert time.monotonic() - begin < 1.7


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go version go1.26.1 linux/amd64", "1.26.1"),
        ("LDC - the LLVM D compiler (1.30.0):\n  based on DMD v2.100.1", "1.30.0"),
        ("wrk debian/4.1.0-3+b2 [epoll]", "4.1.0"),
        ("25", "25"),
        ("no number", None),
    ],
)
def test_the_first_dotted_number_is_the_version(text: str, version: str | None) -> None:
    assert first_version(text) == version


versions = st.lists(st.integers(0, 40), min_size=1, max_size=4)


@given(versions, versions)
def test_versions_are_ordered_part_by_part(one: list[int], two: list[int]) -> None:
    padded = [part + [0] * (4 - len(part)) for part in (one, two)]
    assert is_older(".".join(map(str, one)), ".".join(map(str, two))) == (padded[0] < padded[1])

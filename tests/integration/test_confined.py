"""Tests on a machine that refuses io_uring, like a container with the engine's default seccomp profile."""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness import Harness

REFUSE = "from tests.seccomp import IO_URING_SETUP, refusing; refusing(IO_URING_SETUP)()"


def test_the_load_generator_falls_back_and_a_target_that_requires_io_uring_says_how_to_allow_it(harness: Harness, tmp_path: Path) -> None:
    document = tmp_path / "run.json"
    done = harness.bench("c/epoll/edge", "c/io_uring", "--export-json", str(document), first=REFUSE)
    assert done.returncode == 1
    assert "io_uring is forbidden here: allow it with sysctl kernel.io_uring_disabled=0 or a container's seccomp profile" in done.stdout
    (result,) = (each for each in json.loads(document.read_text())["results"] if each["target"] == "c/epoll/edge")
    (note,) = (note for note in result["rounds"][0]["measurement"]["notes"] if "io_uring" in note)
    assert note.startswith("The load generator used epoll, which takes more CPU time than io_uring: ")
    assert "Operation not permitted" in note
    assert result["verdict"]["kind"] not in ("invalid", "failed"), result["verdict"]


def test_doctor_reports_that_io_uring_is_refused(harness: Harness) -> None:
    examined = harness.run("doctor", "--json", first=REFUSE)
    (finding,) = (finding for finding in json.loads(examined.stdout)["findings"] if finding["name"] == "io-uring")
    assert (finding["severity"], finding["what"]) == ("note", "a seccomp filter refuses io_uring")

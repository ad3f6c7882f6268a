"""Tests on a machine that refuses io_uring, like a container with the engine's default seccomp profile."""

from __future__ import annotations

import json

from tests.harness import Harness
from tests.seccomp import IO_URING_SETUP, refusing


def test_the_load_generator_falls_back_to_epoll_and_the_table_says_why(harness: Harness) -> None:
    done = harness.bench("c/epoll/edge", "--export-json", "-", preexec_fn=refusing(IO_URING_SETUP))
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    (note,) = (note for note in result["rounds"][0]["measurement"]["notes"] if "io_uring" in note)
    assert note.startswith("The load generator used epoll, which takes more CPU time than io_uring: ")
    assert "Operation not permitted" in note


def test_a_target_that_requires_io_uring_says_how_to_allow_it(harness: Harness) -> None:
    done = harness.bench("c/io_uring", preexec_fn=refusing(IO_URING_SETUP))
    assert done.returncode == 1
    assert "io_uring is forbidden here: allow it with sysctl kernel.io_uring_disabled=0 or a container's seccomp profile" in done.stdout


def test_doctor_reports_that_io_uring_is_refused(harness: Harness) -> None:
    examined = harness.run("doctor", "--json", preexec_fn=refusing(IO_URING_SETUP))
    (finding,) = (finding for finding in json.loads(examined.stdout)["findings"] if finding["name"] == "io-uring")
    assert (finding["severity"], finding["what"]) == ("note", "a seccomp filter refuses io_uring")

"""Tests of what profilers need to know of a target's language."""

from __future__ import annotations

import os
import subprocess

from httpbench.profile import has_frame_pointers, is_python, with_maps


def test_the_options_of_the_user_are_kept() -> None:
    env = with_maps({"NODE_OPTIONS": "--max-old-space-size=64", "A": "1"})
    assert env["NODE_OPTIONS"].startswith("--max-old-space-size=64 --perf-basic-prof")
    assert (env["A"], env["DOTNET_PerfMapEnabled"]) == ("1", "1")


def test_this_process_is_python_without_frame_pointers() -> None:
    assert is_python(os.getpid())
    assert not has_frame_pointers(os.getpid())


def test_a_process_that_has_ended_has_no_language() -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
        assert not is_python(ended.pid)
        assert not has_frame_pointers(ended.pid)

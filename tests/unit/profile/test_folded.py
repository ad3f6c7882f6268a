"""Tests of parsing folded stacks, and of the names of frames."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.errors import ProfileError
from httpbench.profile import folded
from httpbench.profile.folded import frame, without_waits

FRAMES = st.text(st.characters(codec="utf-8", exclude_characters=";", exclude_categories=("C", "Z")), min_size=1)
STACKS = st.dictionaries(st.lists(FRAMES, min_size=1).map(";".join), st.integers(0, 10**9))


@given(STACKS)
def test_folded_stacks_are_read_back(stacks: dict[str, int]) -> None:
    assert folded("\n".join(f"{stack} {count}" for stack, count in stacks.items()), "any") == stacks


def test_equal_stacks_are_added_up() -> None:
    assert folded("main;a 2\n\nmain;b c 1\nmain;a 3\n", "any") == {"main;a": 5, "main;b c": 1}


def test_the_process_that_py_spy_names_is_left_out() -> None:
    text = 'process 12:"python3 server.py";<module> (server.py);burn (server.py) 3\nprocess 13:"python3 server.py";<module> (server.py) 1\n'
    assert folded(text, "py-spy") == {"<module> (server.py);burn (server.py)": 3, "<module> (server.py)": 1}


SERVE, WAIT = "<module> (server.py);serve (server.py)", "<module> (server.py);serve (server.py);EpollSelector.select (selectors.py)"


@pytest.mark.parametrize(
    ("samples_max", "serve", "wait"),
    [(200, 100, 50), (150, 100, 50), (130, 100, 30), (100, 100, 0), (90, 100, 0)],
    ids=["CPU time is left", "as much as CPU time", "some waits", "only waits", "more than all waits"],
)
def test_samples_beyond_the_cpu_time_were_waits(samples_max: int, serve: int, wait: int) -> None:
    found = without_waits({SERVE: 100, WAIT: 50}, samples_max)
    assert (found[SERVE], found.get(WAIT, 0)) == (serve, wait)


def test_a_function_with_such_a_name_does_not_wait() -> None:
    stacks = {"main;select": 10, "main;run (server.py)": 10, "main;select (server.py)": 10, "wait (threading.py);serve (server.py)": 10}
    assert without_waits(stacks, 5) == stacks


@pytest.mark.parametrize("line", ["main;a", "3", " 3", "main;a 3.5", "usage: profiler PID"])
def test_another_line_is_an_error_that_shows_it(line: str) -> None:
    with pytest.raises(ProfileError, match="which is not a folded stack") as error:
        folded(f"main 1\n{line}\n", "sampler")
    assert f'sampler wrote "{line}"' in error.value.message


@pytest.mark.parametrize("count", ["9" * 16, "9" * 5000, "٣"])
def test_a_number_that_no_sampler_counts_is_an_error(count: str) -> None:
    with pytest.raises(ProfileError, match="which is not a folded stack"):
        folded(f"main {count}\n", "sampler")


@pytest.mark.parametrize(
    ("symbol", "dso", "is_kernel", "name"),
    [
        ("burn", "/tmp/server", False, "burn"),
        ("tcp_sendmsg", "[kernel.kallsyms]", True, "tcp_sendmsg_[k]"),
        ("[unknown]", "/usr/lib/libc.so.6", False, "[libc.so.6]"),
        ("[unknown]", "[unknown]", False, "[unknown]"),
        ("[unknown]", "[kernel.kallsyms]", True, "[kernel]_[k]"),
        ("std::f<a;b>", "/tmp/server", False, "std::f<a,b>"),
        ("JS:*burn file:///srv/app/server.js:3:14", "/tmp/perf-7.map", False, "burn (server.js)"),
        ("LazyCompile:~burn /srv/my app/server.js:3:14", "/tmp/perf-7.map", False, "burn /srv/my (server.js)"),
        ("JS:^ /srv/server.js:20:9", "/tmp/perf-7.map", False, "(anonymous) (server.js:20)"),
        ("JS:+emit node:events:465:44", "/tmp/perf-7.map", False, "emit (node:events)"),
        ("Builtin:ArgumentsAdaptorTrampoline", "/usr/bin/node", False, "Builtin:ArgumentsAdaptorTrampoline"),
    ],
)
def test_a_frame_has_the_same_name_in_each_build(symbol: str, dso: str, is_kernel: bool, name: str) -> None:
    assert frame(symbol, dso, is_kernel=is_kernel) == name

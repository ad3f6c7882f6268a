from __future__ import annotations

import mmap
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from httpbench.sample import tree
from httpbench.sample.tree import Process, descendants
from tests.waiting import until

FROM_A_THREAD = """
import subprocess, threading, time
def start():
    subprocess.Popen(["sh", "-c", "sleep 60 & wait"])
    time.sleep(60)
threading.Thread(target=start).start()
"""


@pytest.mark.parametrize("kernel_lists_children", [True, False], ids=["as it is", "without CONFIG_PROC_CHILDREN"])
def test_all_descendants_are_found_parents_first(kernel_lists_children: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "KERNEL_LISTS_CHILDREN", kernel_lists_children)
    with subprocess.Popen([sys.executable, "-c", FROM_A_THREAD]) as root:
        try:
            until(lambda: len(descendants(root.pid)) == 2)
            found = descendants(root.pid)
            parents = {pid: psutil.Process(pid).ppid() for pid in found}
            assert parents == {found[0]: root.pid, found[1]: found[0]}
        finally:
            for pid in reversed(descendants(root.pid)):
                psutil.Process(pid).kill()
            root.kill()


def test_a_process_that_is_gone_has_no_descendants() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert descendants(process.pid) == []


def test_a_name_with_spaces_and_parentheses_is_parsed(tmp_path: Path) -> None:
    named = tmp_path / "a ) R (b"
    named.symlink_to("/bin/sleep")
    with subprocess.Popen([named, "60"]) as child:
        until(lambda: Path(f"/proc/{child.pid}/comm").read_text() == "a ) R (b\n")
        process = Process(child.pid)
        try:
            counters = process.counters()
            told = psutil.Process(child.pid)
            assert counters.rss_bytes == pytest.approx(told.memory_info().rss, abs=1 << 20)
            assert not counters.is_zombie
        finally:
            process.close()
            child.kill()


def test_counters_match_those_of_the_kernel() -> None:
    process = Process(os.getpid())
    try:
        own_s = process.counters().own_ticks / os.sysconf("SC_CLK_TCK")
        times = os.times()
    finally:
        process.close()
    assert own_s == pytest.approx(times.user + times.system, abs=0.05)


def test_a_process_that_ended_is_a_zombie_and_then_unreadable() -> None:
    with subprocess.Popen(["sh", "-c", "exit 0"]) as child:
        process = Process(child.pid)
        try:
            until(lambda: process.counters().is_zombie)
            child.wait()
            with pytest.raises(ProcessLookupError):
                process.counters()
        finally:
            process.close()


def test_pages_are_counted() -> None:
    process = Process(os.getpid())
    try:
        before, _ = process.memory()
        memory = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE)  # new pages: an allocator might reuse pages that other tests freed
        for place in range(0, len(memory), mmap.PAGESIZE):
            memory[place] = 1
        rss_bytes, pss_bytes = process.memory()
    finally:
        process.close()
    assert rss_bytes - before >= len(memory)
    assert 0 < pss_bytes <= rss_bytes


def test_threads_may_come_and_go_during_the_listing() -> None:
    ended = threading.Event()

    def churn() -> None:
        while not ended.is_set():
            thread = threading.Thread(target=lambda: None)
            thread.start()
            thread.join()

    worker = threading.Thread(target=churn)
    worker.start()
    try:
        with subprocess.Popen(["sleep", "60"]) as child:
            for _ in range(200):
                assert child.pid in descendants(os.getpid())
            child.kill()
    finally:
        ended.set()
        worker.join()

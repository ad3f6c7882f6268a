"""Tests of ``httpbench noise``: the result is stored, appears below later tables, and becomes outdated when the kernel changes."""

from __future__ import annotations

import json
import sqlite3

import pytest

from tests.harness import Harness

pytestmark = pytest.mark.alone

LONG = ("-d", "500ms", "--timeout", "5s")
"""A load in which a stall of the machine makes no trial invalid."""


def test_noise_is_stored_and_shown_until_it_is_outdated(harness: Harness) -> None:
    unknown = harness.run("noise", "--show")
    assert (unknown.returncode, "has no A/A pairs from this machine" in unknown.stderr) == (2, True)

    pairs = ("noise", "--rounds", "3", "-d", "500ms", "-c", "8", "--retries", "0")
    in_slices = harness.run(*pairs)
    assert in_slices.returncode == 0, in_slices.stderr
    alone = harness.bench("c/epoll/edge", *LONG, "--export-json", "-")
    assert json.loads(alone.stdout)["noise"] is None, "slices leave less noise than whole trials, which one target always has"
    measured = harness.run(*pairs, "--interleave", "rounds")
    assert measured.returncode == 0, measured.stderr
    assert "3 pairs of 0.5 s over 8 connections, c/epoll/edge against itself" in measured.stdout
    assert "edge-again" in measured.stdout

    exported = harness.bench("c/epoll/edge", *LONG, "--explain", "--export-json", "-")
    assert exported.returncode == 0, exported.stderr
    document = json.loads(exported.stdout)
    assert document["noise"]["rounds"] == 3
    assert document["results"][0]["rounds"][0]["settling"] is None, "the warm-up had the given length"
    assert "noise floor with 1 round: throughput" in exported.stderr
    assert "no longer valid" not in exported.stderr
    again = harness.run("report", "--explain")
    assert "noise floor with " in again.stdout
    other = harness.bench("c/epoll/edge", *LONG, "--explain", "-c", "4")
    assert "noise under this load is unknown: A/A pairs had another load (connections 8 → 4)" in other.stdout
    assert "noise floor" not in other.stdout

    with sqlite3.connect(harness.db) as connection:
        connection.execute("UPDATE run SET document = json_set(document, '$.environment.kernel', '2.6.32')")
    later = harness.bench("c/epoll/edge", *LONG, "--explain")
    assert later.returncode == 0, later.stderr
    assert "warning: this machine's noise floor is no longer valid: kernel 2.6.32 → " in later.stderr
    assert "noise floor" not in later.stdout

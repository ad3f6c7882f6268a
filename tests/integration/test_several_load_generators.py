"""Tests of a run with several load generators, and of its report in autocannon's format."""

from __future__ import annotations

import json

import pytest

from httpbench import load
from tests.harness import Harness

GENERATORS = ("native", "wrk", "autocannon")


@pytest.mark.slow
def test_each_load_generator_measures_every_target_in_every_round(harness: Harness) -> None:
    missing = [name for name in GENERATORS if load.get(name).locate() is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; make test installs them")
    named = [word for name in GENERATORS for word in ("--load-generator", name)]
    done = harness.bench("test/misbehaving/good", *named, "-d", "1s", "--timeout", "5s", "--rounds", "2", "--export-json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sorted((result["load_generator"], len(result["rounds"])) for result in found["results"]) == [
        (name, 2) for name in sorted(GENERATORS)
    ]
    first = [trial["load_generator"] for trial in found["plan"] if trial["round"] == 0]
    assert sorted(first) == sorted(GENERATORS)
    printed = harness.run("report", "--format", "autocannon").stdout
    assert printed.count("│ Latency │") == printed.count("│ Bytes/Sec │") == len(GENERATORS)
    assert "wrk reported no values per second." in printed
    assert printed.count("# of samples: ") == 2


def test_another_format_is_printed_once_instead_of_the_tables(harness: Harness) -> None:
    harness.bench("test/misbehaving/good")
    printed = harness.run("report", "--format", "json")
    assert printed.returncode == 0
    assert json.loads(printed.stdout)["schema"] == "httpbench/1"
    twice = harness.run("report", "--format", "json", "--export-json", "x.json")
    assert twice.returncode == 2
    assert "--format json and --export-json request the same format" in twice.stderr


def test_a_load_that_one_generator_cannot_make_is_refused_with_its_name(harness: Harness) -> None:
    done = harness.bench(
        "test/misbehaving/good", "--load-generator", "native", "--load-generator", "autocannon", "--rate", "100", "-d", "1s"
    )
    assert done.returncode == 2
    assert "autocannon has no open loop" in done.stderr
    assert harness.runs() == []

"""Tests of proxies in front of two backends, one of which fails.

The test proxy alternates between its backends, so half of the requests fail until it avoids the failed backend. That is 0.4 s after the
first failed request, or never. A dead backend lets requests fail at once, a stalled one after 0.3 s. The proxy uses a backend again 0.5 s
after it has responded to a check. It records when requests fail and when it uses the backend again, and httpbench must find the same. Other
programs delay both alike.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.harness import TARGETS, Harness

PROXY = "proxy:test/failing-over"
RATE_RPS, FAULT_S = 200, 2.4
USED_AFTER_S = 0.5
FAILS_AFTER_S = {"death": 0.0, "stall": 0.3}
"""Time after which a request to a failed backend fails."""
INTERVAL_S = 0.1
"""Length of the intervals in which failed requests are counted."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the proxy recorded in one trial, in seconds after the backend failed."""

    failed_s: list[float]
    used_s: list[float]

    @classmethod
    def read(cls, lines: list[str], fault: str) -> Recorded:
        events = [(float(at), event) for at, event in map(str.split, lines)]
        times = {name: [at for at, event in events if event == name] for name in ("failed", "used")}
        fault_s = min(times["failed"], default=0.0) - FAILS_AFTER_S[fault]
        return cls([at - fault_s for at in times["failed"]], [at - fault_s for at in times["used"]])


@dataclass(frozen=True, slots=True)
class Failing:
    """Runs of the test proxy, which writes a record for each trial."""

    harness: Harness
    folder: Path

    def measured(self, variant: str) -> dict[str, tuple[dict[str, Any], Recorded]]:
        """Return the only round of each fault, and what the proxy recorded in it."""
        shutil.copytree(TARGETS / "failing-over", self.folder / "failing-over")
        manifest = self.folder / "failing-over" / "target.toml"
        starts = 'run = ["python3", "balancer.py", "{host}", "{port}", "{backend_host}:{backend_port}", '
        recorded = '", "' + str(self.folder / "record-{port}") + '"] }'
        text = "\n".join(line.replace('"] }', recorded) if starts in line else line for line in manifest.read_text().splitlines())
        manifest.write_text(text)
        load = ("--rate", str(RATE_RPS), "-c", "128", "--rounds", "1", "--scale", "0.3", "-d", "4500ms")
        words = ("--targets", str(self.folder), "--suite", "http-proxies-failover", f"{PROXY}/{variant}", *load, "--export-json", "-")
        done = self.harness.run("bench", *words)
        assert done.stdout, done.stderr
        trials = {found["load"]["fault"]: found["rounds"][0] for found in json.loads(done.stdout)["results"]}
        assert set(trials) == {"stall", "death"}
        return {fault: (trial, self._recorded(trial, fault)) for fault, trial in trials.items()}

    def _recorded(self, trial: dict[str, Any], fault: str) -> Recorded:
        file = Path(trial["commands"]["target"][-1])
        return Recorded.read(file.read_text().splitlines(), fault)


@pytest.fixture
def failing(harness: Harness, tmp_path: Path) -> Failing:
    return Failing(harness, tmp_path / "targets")


@pytest.mark.slow
def test_the_figures_of_a_proxy_that_avoids_a_failed_backend_are_true(failing: Failing) -> None:
    for trial, recorded in failing.measured("after-400ms").values():
        assert trial["verdict"]["kind"] not in ("invalid", "failed"), trial["verdict"]
        found = trial["failover"]
        broken_s = found["returned_at_s"] - found["failed_at_s"]
        assert broken_s >= FAULT_S - 0.01
        assert found["failed"] == trial["measurement"]["errors"]["unexpected_status"] == len(recorded.failed_s) > 0
        assert trial["backend_requests"] >= trial["measurement"]["requests"]["ok"], "those of both backends"
        # The proxy avoids the backend in time, and requests that wait then fail later.
        last_s = max(recorded.failed_s)
        assert found["avoided"] and last_s - 0.05 <= found["avoided_s"] <= last_s + INTERVAL_S + 0.05, trial
        assert found["used_again"] and found["used_again_s"] == pytest.approx(recorded.used_s[0] - broken_s, abs=0.15), trial
        assert recorded.used_s[0] - broken_s >= USED_AFTER_S - 0.05
    shown = failing.harness.run("report", "latest", "--explain").stdout
    assert "one of two backends stalls for 2.4 s" in shown and "one of two backends is dead for 2.4 s" in shown
    assert "Used again after: from the return" in shown


@pytest.mark.slow
def test_a_proxy_that_never_avoids_a_failed_backend_has_lower_bounds(failing: Failing) -> None:
    for trial, recorded in failing.measured("never").values():
        found = trial["failover"]
        assert not found["avoided"] and found["avoided_s"] == pytest.approx(found["returned_at_s"] - found["failed_at_s"])
        assert found["failed"] == len(recorded.failed_s) > 0, trial
        assert max(recorded.failed_s) == pytest.approx(found["avoided_s"], abs=0.15), trial
        assert found["used_again"] and found["used_again_s"] < 0.3, trial


@pytest.mark.slow
def test_a_proxy_that_uses_only_one_backend_has_no_result(failing: Failing) -> None:
    for trial, recorded in failing.measured("one-of-two").values():
        assert trial["verdict"]["kind"] == "invalid"
        assert "the proxy sent only 0% of the requests to the second backend before it failed" in trial["verdict"]["reasons"]
        assert recorded.failed_s == []


def test_a_proxy_without_a_second_backend_is_left_out(harness: Harness) -> None:
    done = harness.run("bench", "--suite", "http-proxies-failover", "proxy:c/haproxy", "--dry-run")
    assert done.returncode == 2
    assert "skipped two backends of proxy:c/haproxy: not declared in its target.toml" in done.stderr


def test_another_load_generator_is_refused(harness: Harness) -> None:
    done = harness.run("bench", "--suite", "http-proxies-failover", "proxy:c/nginx", "--load-generator", "wrk", "--dry-run")
    assert done.returncode == 2
    assert "wrk does not count slow responses" in done.stderr

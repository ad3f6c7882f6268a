"""Tests of targets with a real PostgreSQL: honest targets pass, every cheat is detected, and a saturated database is reported."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from httpbench import catalog, host
from httpbench.databases import SYSTEMS, System
from httpbench.databases.systems import NAME, PASSWORD, USER
from httpbench.run.builds.build import build
from httpbench.run.database.running import started
from httpbench.run.trial.inputs import Upstream
from tests.harness import TARGETS, Harness
from tests.waiting import until

MISSING = [system.title for system in SYSTEMS.values() if isinstance(host.check(system.requirement), host.Unmet)]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}; scripts/install-databases")]

ASKING = ("--targets", str(TARGETS / "asking"))
ROWS = ["10000", "50405170", "1", "10000"]
"""Number of rows in the table World, and the sum, minimum and maximum of the random numbers in these rows."""
QUICK = ("-c", "8", "-d", "2s", "--warmup", "500ms", "--timeout", "10s", "--rounds", "1", "-q", "--export-json", "-")


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that the test leaves no database running. Its own temporary folder separates its databases from those of parallel tests."""
    before = _segments()
    with tempfile.TemporaryDirectory(prefix="rooms-") as rooms:
        Path(rooms).chmod(0o1777)  # Everyone may write to it, as to /tmp, because root's databases run as another user.
        monkeypatch.setenv("TMPDIR", rooms)
        monkeypatch.setattr(tempfile, "tempdir", rooms)
        yield
        assert not [line for line in _commands() if rooms in line]
        assert not list(Path(rooms).iterdir())
    until(lambda: not _unused(_segments() - before))


def _commands() -> list[str]:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()


def _segments() -> set[str]:
    """Return PostgreSQL's shared memory segments. A server that is killed leaves its segments behind."""
    return {str(path) for path in Path("/dev/shm").iterdir() if path.name.startswith("PostgreSQL")}


def _unused(segments: set[str]) -> set[str]:
    """Return the segments that no process has mapped."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):  # The process has ended.
            text = maps.read_text()
            segments = {segment for segment in segments if segment not in text}
    return segments


def verify(harness: Harness, workload: str, *ways: str) -> tuple[int, list[str]]:
    """Verify targets and return the exit code and the broken clauses."""
    done = harness.run("verify", *ASKING, *(f"test/asking/{way}" for way in ways), "--workload", workload, timeout_s=280)
    return done.returncode, [line.strip(" ✗") for line in done.stdout.splitlines() if "✗" in line]


def bench_each(harness: Harness, ways: Sequence[str], workloads: Sequence[str], *words: str) -> list[dict[str, Any]]:
    """Run a benchmark of targets one after another, and return the last trial of each under each workload, in this order."""
    targets = [f"test/asking/{way}" for way in ways]
    options = [word for workload in workloads for word in ("--workload", workload)]
    done = harness.run("bench", *ASKING, *targets, *options, "--interleave", "rounds", *QUICK, *words, timeout_s=280)
    found = {(result["target"], result["workload"]): result["rounds"][-1] for result in json.loads(done.stdout)["results"]}
    return [found[target, workload] for target in targets for workload in workloads]


def bench(harness: Harness, way: str, workload: str, *words: str) -> dict[str, Any]:
    """Run a benchmark of one target and return its last trial."""
    (trial,) = bench_each(harness, [way], [workload], *words)
    return trial


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=[system.title for system in SYSTEMS.values()])
def test_every_database_holds_the_same_rows_and_counts_reads_and_writes(system: System, tmp_path: Path) -> None:
    folder = build(system.target, Event()).folder
    with started(Upstream(system.target, folder, ((0,),)), tmp_path, port_is_fixed=False) as database:
        assert database.host.startswith("127.")
        assert database.host != "127.0.0.1"
        assert database.ask("SELECT count(*), sum(randomnumber), min(randomnumber), max(randomnumber) FROM world").split() == ROWS
        database.mark(catalog.load().workload("update-20"))
        for number in range(1, 11):
            database.ask(f"SELECT randomnumber FROM world WHERE id = {number}")
            database.ask(f"UPDATE world SET randomnumber = 10001 WHERE id = {number}")
        recorded = database.record()
    assert recorded.rows_read is not None
    assert 10 <= recorded.rows_read < 1_000
    assert recorded.rows_written == 10
    assert recorded.selects is not None
    assert 10 <= recorded.selects < 100
    assert recorded.version[0].isdigit()


def log_in(system: System, host: str, port: int, user: str, query: str = "SELECT 42") -> subprocess.CompletedProcess[str]:
    """Query a database over TCP, as any program on this machine could."""
    password = PASSWORD if user == USER else ""
    clients: Mapping[str, Sequence[str]] = {
        "mysql": ("mariadb", "--no-defaults", "--protocol=tcp", f"--host={host}", f"--port={port}", f"--user={user}", "--execute", query),
        "postgres": ("psql", "--no-psqlrc", "--no-password", f"postgres://{user}@{host}:{port}/{NAME}", "--command", query),
    }
    environment = {**os.environ, "MYSQL_PWD": password, "PGPASSWORD": password, "PGCONNECT_TIMEOUT": "5"}
    return subprocess.run(clients[system.name], env=environment, capture_output=True, text=True, timeout=20, check=False)


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=[system.title for system in SYSTEMS.values()])
def test_only_the_benchmarks_user_can_log_in_and_it_reads_no_files(system: System, tmp_path: Path) -> None:
    folder = build(system.target, Event()).folder
    with started(Upstream(system.target, folder, ((0,),)), tmp_path, port_is_fixed=False) as database:
        there = (database.host, database.port)
        for user in ("root", "mysql", "mariadb.sys", "postgres", "nobody"):
            refused = log_in(system, *there, user)
            assert refused.returncode != 0, user
            assert "42" not in refused.stdout
        assert "42" in log_in(system, *there, USER).stdout
        for query in (
            "SELECT LOAD_FILE('/etc/passwd')",
            "SELECT pg_read_file('/etc/passwd')",
            f"SELECT 1 INTO OUTFILE '{tmp_path}/written'",
            f"COPY world TO '{tmp_path}/written'",
        ):
            assert "root:" not in log_in(system, *there, USER, query).stdout
        assert not (tmp_path / "written").exists()


def test_a_server_that_queries_its_database_has_results_and_row_counts(harness: Harness) -> None:
    rows_of = {"db": 1, "query-20": 20, "update-20": 20, "fortune": 12}
    trials = bench_each(harness, ["honest"], list(rows_of))
    for (workload, rows), trial in zip(rows_of.items(), trials, strict=True):
        assert trial["verdict"]["kind"] not in ("invalid", "failed"), trial["verdict"]
        responses = trial["measurement"]["requests"]["ok"]
        assert trial["database"]["system"] == "postgres"
        assert trial["database"]["rows_scanned" if workload == "fortune" else "rows_read"] >= rows * responses > 0
        assert trial["database"]["rows_written"] >= (0.95 * rows * responses if workload == "update-20" else 0)
        assert trial["database_usage"]["cpu_cores_mean"] > 0


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_responses_over_http2_are_checked_too(harness: Harness) -> None:
    # The run also has a workload without a database, whose trial uses a build of its own.
    workloads = ("--workload", "query-20", "--workload", "json")
    done = harness.run("bench", "golang/net-http", *workloads, "--tls", "--http2", *QUICK, timeout_s=280)
    trials = {result["workload"]: result["rounds"][0] for result in json.loads(done.stdout)["results"]}
    assert trials["json"]["verdict"]["kind"] not in ("invalid", "failed"), trials["json"]["verdict"]
    trial = trials["query-20"]
    assert trial["verdict"]["kind"] not in ("invalid", "failed"), trial["verdict"]
    sampled = trial["measurement"]["sampled_bodies"]
    assert sampled["checked"] > 0 == sampled["wrong"], sampled
    assert trial["database"]["rows_read"] >= 20 * trial["measurement"]["requests"]["ok"] > 0


def test_a_server_that_follows_the_rules_passes(harness: Harness) -> None:
    assert verify(harness, "db", "honest") == (0, [])


def test_a_server_that_asks_its_database_passes_ten_of_ten(harness: Harness) -> None:
    load = ("-c", "8", "-d", "300ms", "--warmup", "200ms", "--timeout", "10s", "--rounds", "10", "--export-json", "-")
    done = harness.run("bench", *ASKING, "test/asking/honest", "--workload", "db", *load)
    (result,) = json.loads(done.stdout)["results"]
    assert len(result["rounds"]) == 10
    assert not [trial["verdict"] for trial in result["rounds"] if trial["verdict"]["kind"] in ("invalid", "failed")]


def test_the_databases_row_count_reveals_a_cache_and_a_server_that_reads_only_one_row(harness: Harness) -> None:
    code, problems = verify(harness, "db", "cache", "same-row")
    assert code == 1
    assert any(problem.startswith("asks its database for each response: the database received") for problem in problems), problems
    assert any(problem.startswith("draws its rows at random: ") for problem in problems), problems
    trial = bench(harness, "cache", "query-20")
    assert trial["verdict"]["kind"] == "invalid"
    assert "the target did not ask it each time" in trial["verdict"]["reasons"][0]


def assert_not_asked(trial: Mapping[str, Any]) -> None:
    assert trial["verdict"]["kind"] == "invalid"
    assert "the target did not ask it each time" in trial["verdict"]["reasons"][0]
    requests = trial["measurement"]["requests"]
    assert trial["database"]["selects"] < requests["ok"] + (requests["before_window"] or 0)


WARMUPS = {
    "until steady": ("--warmup-max", "4s"),
    "fixed": ("--warmup", "2s"),
    "by another generator": ("--warmup", "2s", "--load-generator", "wrk"),
}


@pytest.mark.parametrize("warmup", WARMUPS.values(), ids=WARMUPS)
def test_rows_of_the_warm_up_do_not_hide_a_cache(harness: Harness, warmup: tuple[str, ...]) -> None:
    """If rows read during the long warm-up counted, they would hide the fact that half of the measured responses are cached."""
    half, honest = bench_each(harness, ["half", "honest"], ["db"], *warmup, "-d", "1s")
    assert_not_asked(half)
    assert honest["verdict"]["kind"] not in ("invalid", "failed"), honest["verdict"]


def test_rows_read_by_few_statements_and_made_up_rows_do_not_hide_a_cache(harness: Harness) -> None:
    """One target reads many rows with a few statements. The other asks for one row each time, but responds with rows that it makes up."""
    bulk, other = bench_each(harness, ["bulk", "other-ids"], ["db"], "--retries", "0")
    assert_not_asked(bulk)
    assert other["verdict"]["kind"] == "invalid"
    assert "of the rows are not in the table, such as" in json.dumps(other["verdict"]["reasons"])


def test_a_scan_of_the_table_does_not_hide_a_cache(harness: Harness) -> None:
    assert_not_asked(bench(harness, "scan", "fortune", "--retries", "0"))


def test_the_databases_row_count_reveals_missing_updates(harness: Harness) -> None:
    trial = bench(harness, "unwritten", "update-20")
    assert trial["verdict"]["kind"] == "invalid"
    assert "the target did not write its updates" in trial["verdict"]["reasons"][0]


def test_unescaped_fortunes_are_detected(harness: Harness) -> None:
    code, problems = verify(harness, "fortune", "unescaped")
    assert code == 1
    assert any("fortune 11 is not escaped" in problem for problem in problems), problems


@pytest.mark.alone
def test_a_saturated_database_is_reported_as_the_bottleneck(harness: Harness) -> None:
    """If other virtual machines take CPU time, the database doesn't fill its core, so one of several trials decides."""
    verdicts = []
    for _ in range(4):
        verdicts.append(bench(harness, "slow-query", "db", "--retries", "3")["verdict"])
        if verdicts[-1]["kind"] == "database":
            return
    if all(verdict["kind"] == "disturbed" for verdict in verdicts):
        pytest.skip(f"other programs disturbed it: {verdicts[-1]['reasons']}")
    pytest.fail(f"none of these is that of a database: {verdicts}")


def test_every_trial_starts_with_the_same_rows(harness: Harness) -> None:
    done = harness.run("bench", *ASKING, "test/asking/honest", "--workload", "update-20", *QUICK, "--rounds", "2", timeout_s=280)
    (result,) = json.loads(done.stdout)["results"]
    assert [trial["verdict"]["kind"] not in ("invalid", "failed") for trial in result["rounds"]] == [True, True]


def test_a_workload_without_queries_starts_no_database(harness: Harness) -> None:
    done = harness.run("bench", *ASKING, "test/asking/honest", "--workload", "json", *QUICK, timeout_s=280)
    (result,) = json.loads(done.stdout)["results"]
    assert result["rounds"][0]["database"] is None

"""Tests that files from others give an error rather than a traceback. ``fuzz/files.py`` found most of these files."""

from __future__ import annotations

import base64
import json
import math
import os
import string
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from httpbench import catalog
from httpbench.analysis.changes import changes
from httpbench.analysis.history import histories
from httpbench.catalog import files, httparena, techempower
from httpbench.errors import CatalogError, LoadError, StoreError, UsageError
from httpbench.host.owner import is_alive, this_process
from httpbench.model import Reason, ReasonKind, Target, TargetFile, Verdict, VerdictKind
from httpbench.paths import read_small
from httpbench.quantiles import LONGEST_NS, decoded
from httpbench.report.data import read_json
from httpbench.report.data.json import render_json
from httpbench.report.data.read_json import read_export
from httpbench.report.words.claims import span
from httpbench.report.words.numbers import four_digits
from httpbench.report.words.reasons import SENTENCES, sentence
from httpbench.stats.histogram import merged_intervals
from httpbench.stats.interval import ConfidenceInterval, around
from httpbench.store import Store, browse
from tests.factories import make_client, make_distribution, make_histogram, make_mixed_run, make_plan, make_rounds, make_run, make_trial
from tests.hostile_stores import plant_journal, without_types
from tests.published import write_results

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_random_files_cause_no_traceback() -> None:
    done = subprocess.run([sys.executable, ROOT / "fuzz" / "files.py", "--seed", "1", "--cases", "12"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert "web-frameworks-results 12, httparena-results 12, stacks 12, repository 12, histogram 12, store 12 cases" in done.stdout


# --- catalogs -------------------------------------------------------------------------------------------------------------------


def test_an_enormous_number_is_described(tmp_path: Path) -> None:
    path = tmp_path / "target.toml"
    path.write_text(f"kind = 0x{'f' * 5000}")
    with pytest.raises(CatalogError, match="a number with thousands of digits"):
        files.read(path, TargetFile)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_an_impossible_file_name_is_an_error_of_the_system(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError, match=r"no file can have this name|No such file"):
        read_small(tmp_path / name, tmp_path)


def problems(target: Target) -> str:
    assert target.entry is not None
    return " ".join(target.entry.problems)


@pytest.mark.parametrize("project", ["/etc/passwd", "-f", "a:b"])
def test_the_usual_name_of_a_dockerfile_is_checked_too(tmp_path: Path, project: str) -> None:
    folder = tmp_path / "frameworks" / "C" / "one"
    folder.mkdir(parents=True)
    tests = [{"default": {"language": "C", "port": 8080, "json_url": "/json"}}]
    (folder / "benchmark_config.json").write_text(json.dumps({"framework": project, "tests": tests}))
    assert f'dockerfile: "{project}.dockerfile" does not match' in problems(techempower.read(tmp_path)[0])


def test_half_of_a_surrogate_pair_is_not_read(tmp_path: Path) -> None:
    framework = tmp_path / "frameworks" / "one"
    framework.mkdir(parents=True)
    (framework / "Dockerfile").write_text("FROM scratch\n")
    (framework / "meta.json").write_text(r'{"language": "C", "display_name": "\ud800", "tests": ["baseline"]}')
    assert "meta.json is not JSON" in problems(httparena.read(tmp_path)[0])
    (framework / "meta.json").write_text(r'{"language": "C", "display_name": "\ud83d\udd25", "tests": ["baseline"]}')
    assert problems(httparena.read(tmp_path)[0]) == ""


@pytest.mark.parametrize("wrong", [{"duration": 10**12}, {"environmentDescription": "\ud800"}])
def test_published_results_beyond_the_model_are_rejected(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(CatalogError, match=r"is not a results\.json"):
        catalog.read_published("techempower", write_results(tmp_path / "results.json", **wrong), catalog.load().workloads, (), None)


# --- histograms -----------------------------------------------------------------------------------------------------------------


def histogram(lowest: int, highest: int, digits: int, counts: bytes) -> str:
    """Return a histogram with these numbers in its header. A count ``n`` is the byte ``2 * n``."""
    packed = zlib.compress(struct.pack(">iiiiqqd", 0x1C849313, len(counts), 0, digits, lowest, highest, 1.0) + counts)
    return base64.b64encode(struct.pack(">Ii", 0x1C849314, len(packed)) + packed).decode()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (histogram(1 << 40, 1 << 62, 3, b"\x02" * 3000), "begin at 1 ns"),
        (histogram(1, LONGEST_NS, 5, b"\x02"), "at most 3 significant digits"),
        (histogram(1, LONGEST_NS + 1, 3, b"\x02"), "beyond its range"),
        (histogram(1, 2100, 3, b"\x00" * 3000 + b"\x02"), "beyond its range"),
        (histogram(1, LONGEST_NS, 3, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x1f"), "too large"),
    ],
)
def test_a_histogram_beyond_what_a_load_generator_records_is_rejected(text: str, problem: str) -> None:
    with pytest.raises(LoadError, match=problem):
        decoded(text)


def test_a_histogram_within_the_limits_is_read() -> None:
    assert decoded(histogram(1, LONGEST_NS, 3, b"\x00\x02")).get_total_count() == 1


def test_percentiles_of_zero_have_no_interval() -> None:
    assert "p50" not in merged_intervals([make_distribution(histogram=make_histogram([0] * 1000))] * 3)


def test_a_bound_too_large_for_a_float_is_cut() -> None:
    assert around(1.0, 1.0, 10_000.0).high < float("inf")


# --- exports --------------------------------------------------------------------------------------------------------------------


def exported(path: Path, change: Callable[[Any], object]) -> Path:
    document = json.loads(render_json(*make_mixed_run()))
    change(document)
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda document: document["results"][0].update(workload="%s%n"), "workload: String should match"),
        (lambda document: document.update(started_at="'"), "started_at: "),
        (lambda document: document.update(started_at="2026-11-21T08:00:00"), "must have a time zone"),
        (lambda document: document["targets"].pop("c/nginx"), "has results of c/nginx, but doesn't describe this target"),
    ],
)
def test_an_inconsistent_export_is_rejected(tmp_path: Path, change: Callable[[Any], object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        read_export(exported(tmp_path / "run.json", change))


def test_a_small_file_may_not_become_a_huge_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_json, "INFLATED_BYTES", 1 << 20)
    path = tmp_path / "run.json.zst"
    path.write_bytes(zstandard.compress(b"[" + b"0," * (1 << 20)))
    with pytest.raises(UsageError, match="contains more than 1 MiB of data"):
        read_export(path)


@pytest.mark.parametrize("kind", list(ReasonKind))
@pytest.mark.parametrize("value", [None, "x", -1, [], [{"name": "x", "cores": 1}], {"x": []}])
def test_a_reason_with_unknown_data_has_a_sentence(kind: ReasonKind, value: Any) -> None:
    keys = {key for one in SENTENCES.values() if isinstance(one, str) for _, key, *_ in string.Formatter().parse(one) if key}
    for data in ({}, dict.fromkeys(["programs", "errors", "reasons", "strangers", *keys], value)):
        assert sentence(Reason(kind=kind, data=data))


@pytest.mark.parametrize("reasons", [[], ["x", 1], [{"kind": "x"}]])
def test_a_merged_reason_with_unknown_data_can_be_summarized(reasons: list[Any]) -> None:
    merged = Reason(kind=ReasonKind.REPEATED, data={"reasons": reasons})
    verdict = Verdict(kind=VerdictKind.TARGET, reasons=(Reason(kind=ReasonKind.TEXT, data={"text": "x"}), merged))
    trials = [make_trial(make_plan(round_=number), verdict) for number in range(3)]
    assert render_json(make_run(trials), trials)


@pytest.mark.parametrize(("value", "text"), [(math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan")])
def test_a_number_that_is_not_finite_is_shown(value: float, text: str) -> None:
    assert four_digits(value, 2) == text


@pytest.mark.parametrize("bound", [math.inf, math.nan])
def test_an_interval_that_is_not_finite_is_shown(bound: float) -> None:
    assert span(ConfidenceInterval(low=1.0, high=bound))


def test_a_client_without_requests_has_no_time_per_request() -> None:
    assert make_client(1.0).model_copy(update={"requests": 0}).cpu_us_per_request is None


def test_runs_without_the_definition_of_a_workload_can_be_compared() -> None:
    trials = make_rounds("c/nginx", (1000.0, 1001.0, 1002.0))
    run = make_run(trials, workloads={})
    assert len(changes((run, trials), (run, trials)).cells) == 1


# --- stores ---------------------------------------------------------------------------------------------------------------------


def stored(path: Path, *statements: str) -> Path:
    """Store a run, then change the file as if its schema had no types."""
    run, trials = make_mixed_run()
    with Store(path) as store:
        store.put(run, trials[:3])
    without_types(path, *statements)
    return path


READERS: tuple[Callable[[Store], object], ...] = (lambda store: store.runs(), lambda store: store.run("latest"))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run SET status = '[1'",
        "UPDATE run SET document = CAST(x'ff' AS TEXT)",
        "UPDATE run SET document = json_set(document, '$.command', 1.5)",
    ],
)
def test_an_unreadable_row_is_an_error(tmp_path: Path, statement: str, read: Callable[[Store], object]) -> None:
    with Store(stored(tmp_path / "results.db", statement), reading=True) as store, pytest.raises(StoreError, match=r"results\.db"):
        read(store)


def test_a_name_in_the_schema_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    path = stored(tmp_path / "results.db", "CREATE INDEX strange ON run(status)")
    path.write_bytes(path.read_bytes().replace(b"strange", b"\xdbtrange").replace(b"ON run(status)", b"ON run status)"))
    with pytest.raises(StoreError, match="the file is damaged"):
        Store(path, reading=True)


def test_a_run_with_two_ids_is_an_error(tmp_path: Path) -> None:
    path = stored(tmp_path / "results.db", "UPDATE run SET document = json_set(document, '$.id', 'other')")
    with Store(path, reading=True) as store, pytest.raises(StoreError, match="its document has the id other"):
        store.run("latest")


@pytest.mark.parametrize("column", ["tags", "started_at"])
def test_a_listed_value_of_another_type_is_an_error(tmp_path: Path, column: str) -> None:
    path = stored(tmp_path / "results.db", f"UPDATE run SET {column} = NULL")
    with Store(path, reading=True) as store, pytest.raises(StoreError, match="another version"):
        store.runs()


def test_a_trial_of_an_unknown_target_is_an_error(tmp_path: Path) -> None:
    path = stored(tmp_path / "results.db", "UPDATE run SET document = json_set(document, '$.targets', json('{}'))")
    with Store(path, reading=True) as store, pytest.raises(StoreError, match="a target that it doesn't describe"):
        store.run("latest")


def test_a_trial_of_an_unknown_target_that_is_stored_later_is_an_error(tmp_path: Path) -> None:
    path = stored(tmp_path / "results.db", "DELETE FROM histogram")
    with Store(path, reading=True) as store:
        run, _ = store.run("latest")
        with pytest.raises(StoreError, match="a target that it doesn't describe"):
            store.updated(run.model_copy(update={"targets": {}}), [])


def test_an_unexpected_histogram_is_ignored(tmp_path: Path) -> None:
    statement = "INSERT INTO histogram SELECT run_id, number, 'intervals', 'x' FROM trial"
    with Store(stored(tmp_path / "results.db", statement), reading=True) as store:
        assert len(store.run("latest")[1]) == 3


def test_a_name_of_another_type_in_a_history_is_an_error(tmp_path: Path) -> None:
    path = stored(tmp_path / "results.db", "UPDATE run SET document = json_set(document, '$.name', 1.5)")
    with Store(path, reading=True) as store, pytest.raises(StoreError, match="another version"):
        store.figures("c/epoll/level", 10)


@pytest.mark.parametrize("cell", ["[]", "no", "1"])
def test_an_unreadable_cell_of_a_history_is_an_error(tmp_path: Path, cell: str) -> None:
    path = stored(tmp_path / "results.db", f"UPDATE figures SET cell = '{cell}', throughput_rps = 1")
    with Store(path, reading=True) as store, pytest.raises(StoreError, match="another version"):
        histories(store, "c/epoll/level")


@pytest.mark.parametrize("value", ["NULL", "1.5", "json('[]')"])
def test_an_environment_of_another_type_in_a_history_is_an_error(tmp_path: Path, value: str) -> None:
    path = stored(tmp_path / "results.db", f"UPDATE run SET document = json_set(document, '$.environment', {value})")
    with Store(path, reading=True) as store, pytest.raises(StoreError, match="another version"):
        histories(store, "c/epoll/level")


def test_a_target_of_another_type_is_listed_as_text(tmp_path: Path) -> None:
    with Store(stored(tmp_path / "results.db", "UPDATE trial SET target = x'ff'"), reading=True) as store:
        assert browse.target_ids(store) == ["b'\\xff'"]


HIDDEN = "UPDATE sqlite_master SET type = upper(type) WHERE name = '{}'"
ENDLESS = "WITH RECURSIVE forever(x) AS (SELECT 1 UNION ALL SELECT x FROM forever)"


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (("DROP TABLE figures", f"CREATE VIEW figures AS {ENDLESS} SELECT x AS run_id FROM forever"), "contains figures in a form"),
        (("DROP TABLE profile", f"CREATE VIEW profile AS {ENDLESS} SELECT x AS run_id FROM forever"), "contains profile in a form"),
        (("CREATE TRIGGER t BEFORE DELETE ON run BEGIN SELECT 1; END",), "contains t in a form"),
        (
            ("CREATE TRIGGER t BEFORE DELETE ON run BEGIN SELECT 1; END", "PRAGMA writable_schema = ON", HIDDEN.format("t")),
            "contains t in a form",
        ),
        (
            ("ALTER TABLE run ADD COLUMN c AS (hex(zeroblob(16000000)))", "PRAGMA writable_schema = ON", HIDDEN.format("run")),
            "run in a form",
        ),
        (("DROP INDEX figures_by_target",), "contains figures_by_target in a form"),
        (("PRAGMA user_version = -1",), "newer httpbench"),
    ],
)
@pytest.mark.parametrize("reading", [True, False])
def test_a_schema_that_computes_is_rejected(tmp_path: Path, statements: tuple[str, ...], problem: str, *, reading: bool) -> None:
    path = stored(tmp_path / "results.db", *statements)
    with pytest.raises(StoreError, match=problem):
        Store(path, reading=reading)


@pytest.mark.parametrize("reading", [True, False])
def test_reading_a_store_deletes_no_other_file(tmp_path: Path, *, reading: bool) -> None:
    victim, path = tmp_path / "victim", stored(tmp_path / "results.db")
    victim.write_text("precious")
    plant_journal(path, victim)
    with pytest.raises(StoreError, match="names another file, which SQLite would delete"):
        Store(path, reading=reading)
    assert victim.exists()


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda file: file.symlink_to("/dev/null")])
def test_files_next_to_a_store_are_regular_files(tmp_path: Path, suffix: str, make: Callable[[Path], None]) -> None:
    path = stored(tmp_path / "results.db")
    make(Path(f"{path}{suffix}"))
    link = tmp_path / "link.db"
    link.symlink_to(path)
    for each in (path, link):
        with pytest.raises(StoreError, match="is not a regular file"):
            Store(each, reading=True)


def test_a_store_may_have_been_analyzed(tmp_path: Path) -> None:
    with Store(stored(tmp_path / "results.db", "ANALYZE"), reading=True) as store:
        assert store.runs()


def test_a_link_to_itself_is_an_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    path.symlink_to(path)
    with Store(path, reading=True) as store:
        assert store.runs() == []


def test_an_impossible_process_is_not_alive() -> None:
    assert not is_alive(this_process()._replace(pid=2**63 - 1))

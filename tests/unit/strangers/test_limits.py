"""Tests of small files of strangers that would take minutes or fill the memory, or that a shell would run."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import tracemalloc
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest

from httpbench import paths
from httpbench.catalog import load
from httpbench.catalog.files import read
from httpbench.errors import StoreError, UsageError
from httpbench.host import commits_between
from httpbench.host.tools.requirements import is_older
from httpbench.load.data_file import read_rows
from httpbench.load.request_files import read_har, read_request
from httpbench.model import Request, Run, Suite
from httpbench.model.foreign import parsed
from httpbench.model.frozen import Id
from httpbench.report.data.json import render_json
from httpbench.report.data.read_json import read_export
from httpbench.store import Store
from httpbench.web.export import export
from tests.factories import make_plan, make_profile, make_run, make_trial
from tests.hostile_stores import without_types
from tests.planted import git, plant
from tests.refused import refused

MANIFEST = 'kind = "server"\nlanguage = "c"\nframework = "zz"\n[[variant]]\nname = "a"\n'


@pytest.mark.parametrize("framework", ["zz$(touch${IFS}ran)", "zz;id", "a b", "a\\u001b]0;x", "a\\nplain,b", "a*", "a" * 500])
def test_only_ids_are_completed(tmp_path: Path, framework: str) -> None:
    """A shell inserts them into its command line."""
    (tmp_path / "target.toml").write_text(MANIFEST.replace("zz", framework))
    built_in = paths.ids()
    assert paths.ids([tmp_path]) == built_in


def test_the_pattern_of_ids_is_that_of_the_model() -> None:
    (constraint,) = get_args(Id)[1:]
    assert constraint.pattern == f"^{paths.ID.pattern}$"


@pytest.mark.parametrize("part", ["a", '"a b"', "'a'", "a "])
def test_keys_have_few_parts(tmp_path: Path, part: str) -> None:
    path = tmp_path / "target.toml"
    path.write_text(f"{'.'.join([part] * 100_000)} = 1\n{MANIFEST}")
    assert "a key with more than 32 parts (at line 1)" in refused(lambda: read(path, Suite))
    assert paths.ids([tmp_path]) == paths.ids()


def test_long_texts_are_no_keys() -> None:
    text = "word " * 20_000 + "." * 1000 + "x" * 100_000
    assert paths.parsed_toml(f"notes = '{text}'") == {"notes": text}


@pytest.mark.parametrize("key", ["name", "kind"])
def test_a_value_may_be_nested_deeply(tmp_path: Path, key: str) -> None:
    """Each of 100 tables has a key with 31 parts."""
    path, parts = tmp_path / "suite.toml", ".".join(["a"] * 31)
    path.write_text(f"{key} = {f'{{{parts} = ' * 100}1{'}' * 100}\n")
    assert "nested too deeply" in refused(lambda: read(path, Suite))


def test_folders_may_be_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "target.toml").write_text(MANIFEST)
    monkeypatch.chdir(tmp_path)
    try:
        for _ in range(1100):
            Path("a").mkdir()
            os.chdir("a")
        assert paths.manifests(tmp_path) == [tmp_path / "target.toml"]
    finally:  # pytest can't remove so many
        while Path.cwd() != tmp_path:
            os.chdir("..")
            Path("a").rmdir()


@pytest.mark.parametrize("expression", ["instr(hex(zeroblob(16000000)), '1')", "hex(zeroblob(33000000))"])
def test_a_computed_column_is_not_read(tmp_path: Path, expression: str) -> None:
    db = tmp_path / "results.db"
    with Store(db) as store:
        store.put(make_run([make_trial()]), [make_trial()])
    with closing(sqlite3.connect(db)) as connection:
        connection.execute(f"ALTER TABLE run ADD COLUMN planted TEXT AS ({expression})")
    with pytest.raises(StoreError, match="contains run in a form"):
        Store(db, reading=True)


@pytest.mark.parametrize("run_id", ["a/b", "../a", "", "a" * 101])
def test_a_run_with_an_id_that_names_no_file_is_not_read(tmp_path: Path, run_id: str) -> None:
    db = tmp_path / "results.db"
    with Store(db) as store:
        store.put(make_run([make_trial()], id="good"), [make_trial()])
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("UPDATE run SET id = ?, document = json_set(document, '$.id', ?)", (run_id, run_id))
    assert f"run {run_id} " in refused(lambda: export(db, tmp_path / "site", 10, lambda path: None))


def test_values_that_are_inserted_may_not_make_a_request_huge(tmp_path: Path) -> None:
    file, rows = tmp_path / "a.http", tmp_path / "rows.jsonl"
    file.write_text(f"@a = {'x' * 300_000}\nGET /\n\n{'{{a}}' * 2000}")
    assert "larger than 64 MB" in refused(lambda: read_request(file, ()))
    file.write_text(f"GET /{{{{a}}}}\n\n{'{{a}}' * 2000}")
    rows.write_text(f'{{"a": "{"x" * 300_000}"}}\n')
    template = read_request(file, (), is_template=True)
    assert "larger than 64 MB" in refused(lambda: read_rows(rows, template))


def test_a_table_may_have_many_columns(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(",".join(f"c{number}" for number in range(50_000)) + ",c1\n")
    with pytest.raises(UsageError, match='two columns are called "c1"'):
        read_rows(rows, Request(path="/{c1}"))


def test_versions_may_have_thousands_of_digits() -> None:
    assert is_older("1.2", "9" * 5000)


def test_a_repository_cannot_make_git_wait_for_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = plant(tmp_path, [1, 2])
    os.mkfifo(tmp_path / "pipe")
    git(tmp_path, "config", "mailmap.file", str(tmp_path / "pipe"))
    monkeypatch.chdir(tmp_path)
    begin_s = time.monotonic()
    assert len(commits_between(first, second)) == 1
    assert time.monotonic() - begin_s < 5


LAYOUTS = {
    "techempower": ("frameworks/Perl/x", "benchmark_config.json", '{"framework": "x", "tests": [{"default": {"port": 80}}]}'),
    "httparena": ("frameworks/x", "meta.json", '{"language": "Perl", "tests": ["json"]}'),
    "web-frameworks": ("perl/x", "config.yaml", "framework:\n  version: 1\n"),
}


@pytest.mark.parametrize("linked", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_catalog_contains_no_folder_outside_of_it(tmp_path: Path, layout: str, linked: int) -> None:
    """``linked`` is the number of the framework's parents up to the link."""
    place, name, text = LAYOUTS[layout]
    for clone, framework in (("outside", "secret"), ("clone", "own")):
        folder = (tmp_path / clone / place).with_name(framework)
        folder.mkdir(parents=True)
        (folder / name).write_text(text)
        (folder / ".Dockerfile.main").write_text("FROM a\n")
    outside = [(tmp_path / "outside" / place).with_name("secret"), (tmp_path / "outside" / place).parent][linked]
    inside = [(tmp_path / "clone" / place).with_name("evil"), (tmp_path / "clone" / place).parent.with_name("evil")][linked]
    inside.symlink_to(outside)
    assert {name.split("/")[1] for name in paths.ids([Path(f"{layout}:{tmp_path / 'clone'}")])} == {"own"}
    found = load([Path(f"{layout}:{tmp_path / 'clone'}")]).targets.values()
    assert {Path(target.folder).name for target in found} == {"own"}


def test_a_recording_may_have_another_list_of_entries_before_its_own(tmp_path: Path) -> None:
    good = {"request": {"url": "http://a/", "method": "GET", "headers": []}, "response": {"status": 200}}
    path = tmp_path / "a.har"
    path.write_text(json.dumps({"a": {"entries": [1]}, "log": {"entries": [good, good, good, {"request": {"url": 5}}]}}))
    assert str(path) in refused(lambda: read_har(path, ()))


@pytest.mark.parametrize(("table", "column"), [("trial", "number = x'00ff'"), ("trial", "document = 5")])
def test_columns_of_a_store_may_have_any_type(tmp_path: Path, table: str, column: str) -> None:
    db = tmp_path / "results.db"
    with Store(db) as store:
        store.put(make_run([make_trial()]), [make_trial()])
    without_types(db, f"UPDATE {table} SET {column}")
    with Store(db, reading=True) as store:
        assert "cannot read it" in refused(lambda: store.run("latest"))


def exported(path: Path, **changes: Any) -> Path:
    """Write an export whose only trial has another verdict. A change is JSON."""
    trial = make_trial()
    document = json.loads(render_json(make_run([trial]), [trial]))
    verdict = document["results"][0]["rounds"][0]["verdict"]
    verdict.pop("causes")
    verdict["reasons"] = "@reasons"
    text = json.dumps(document | {name: f"@{name}" for name in changes if name != "reasons"})
    for name, value in ({"reasons": "[]"} | changes).items():
        text = text.replace(f'"@{name}"', value)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"reasons": "[" + ",".join(['""'] * 1_400_000) + "]"}, "far more than usual for its size"),
        ({"reasons": "[" + ",".join([f'"{" " * 20}"'] * 30_000) + "]"}, "at most 1000 items"),
        ({"other": "[" + ",".join(["[[[[0]]]]"] * 800_000) + "]"}, "far more than usual for its size"),
        ({"other": "[" + ",".join([json.dumps({"x": "x" * 60})] * 50_000) + "]", "run": "1"}, "run: Input should be"),
    ],
)
def test_an_export_takes_memory_in_proportion_to_its_size(tmp_path: Path, changes: dict[str, str], problem: str) -> None:
    path = exported(tmp_path / "run.json", **changes)
    tracemalloc.start()
    try:
        assert problem in refused(lambda: read_export(path))
        assert tracemalloc.get_traced_memory()[1] < 20 * path.stat().st_size
    finally:
        tracemalloc.stop()


def test_a_run_may_have_many_trials() -> None:
    """A plan has the smallest objects and values of all documents."""
    run = make_run([])
    large = run.model_copy(update={"plan": (make_plan(),) * 30_000})
    assert len(parsed(Run, large.model_dump_json()).plan) == 30_000


def test_a_profile_takes_memory_in_proportion_to_its_size(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    with Store(db) as store:
        store.put(make_run([make_trial()]), [make_trial()])
    one = '{"requests":0,"cpu_s":0,"stacks":{}}'
    text = make_profile().model_dump_json().replace('"slices":[]', f'"slices":[{",".join([one] * 400_000)}]')
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("INSERT INTO profile SELECT id, 0, ? FROM run", (zlib.compress(text.encode()),))
    with Store(db, reading=True) as store:
        assert "cannot read it" in refused(lambda: store.run("latest"))

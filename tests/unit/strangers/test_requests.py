"""Tests of files with requests or results, and of commits, by strangers who want to use much time or memory."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from httpbench import catalog
from httpbench.catalog.httparena_results import read_results
from httpbench.catalog.imported import IMPORT_VALUES_MAX, PUBLISHED_BYTES_MAX, read_published_json
from httpbench.cli.options.fields import command
from httpbench.cli.options.request import RequestOptions
from httpbench.host import commits_between
from httpbench.host.commands import PRINTED_BYTES_MAX, capture
from httpbench.host.facts.git import git_commit
from httpbench.load.data_file import read_rows
from httpbench.load.request_files import VALUES_MAX, read_har, read_request, read_urls
from httpbench.model import Request, Workload
from tests.planted import git, plant
from tests.published import arena_row, write_arena
from tests.refused import refused

pytestmark = pytest.mark.timeout(30)


@contextmanager
def memory_below(mebibytes: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < mebibytes << 20
    finally:
        tracemalloc.stop()


def workload(option: str, path: Path) -> Workload:
    """Return the workload of a command with this option."""
    found = list[Workload]()

    @command(RequestOptions)
    def verb(options: RequestOptions) -> None:
        found.append(options.as_workload(["http://localhost:1/"]))

    verb.main([option, f"@{path}"], standalone_mode=False)
    return found[0]


# --- requests --------------------------------------------------------------------------------------------------------------------


def test_a_header_may_be_repeated_often(tmp_path: Path) -> None:
    path = tmp_path / "a.http"
    value = "x" * 1000
    path.write_text("GET / HTTP/1.1\n" + f"a:{value}\n" * 10_000)
    assert read_request(path, ()).headers == {"a": ", ".join([value] * 10_000)}


def test_a_request_has_few_header_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.http"
    path.write_text("GET / HTTP/1.1\n" + "a:x\n" * 250_000)
    assert refused(lambda: read_request(path, ())) == f"{path}:10002:1: more than 10,000 header fields"


def test_a_query_may_continue_on_many_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.http"
    path.write_text("GET /\n" + " ?\n" * 100_000 + "a: x\n")
    request = read_request(path, ())
    assert (request.path, request.headers) == ("/" + "?" * 100_000, {"a": "x"})


def test_a_template_has_few_placeholders(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b\n" + ",\n" * 3000)
    problem = refused(lambda: read_rows(rows, Request(method="POST", path="/{{b}}", body="{{a}}" * 200_000)))
    assert problem == "the request has more than 10,000 placeholders"


def test_few_values_are_inserted_into_all_requests_together(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b\n" + ",\n" * 3000)
    problem = refused(lambda: read_rows(rows, Request(method="POST", path="/", body="{a}" * 9000)))
    assert problem == f"{rows}:335: more than 3,000,000 values for the request's placeholders"
    assert len(read_rows(rows, Request(path="/{a}{b}"))) == 3000


def test_a_file_has_few_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.http"
    path.write_bytes(b"\n" * (32 << 20) + b"GET /\n")
    assert "more than 2,000,000 lines" in refused(lambda: read_request(path, ()))
    assert "more than 2,000,000 lines" in refused(lambda: read_urls(path, ()))


def test_a_recording_has_few_values(tmp_path: Path) -> None:
    path = tmp_path / "a.har"
    path.write_text('{"log": {"entries": [' + "{}," * 12_000_000 + "{}]}}")
    with memory_below(200):
        assert refused(lambda: read_har(path, ())) == f"{path}: more than {VALUES_MAX:,} values"


def test_the_texts_in_a_recording_may_contain_any_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.har"
    content = {"text": '[{"a":1},\\]' * 1_000_000}
    entry = {"request": {"url": "http://a/", "method": "GET", "headers": []}, "response": {"status": 200, "content": content}}
    path.write_text(json.dumps({"log": {"entries": [entry]}}))
    assert [each.request.path for each in read_har(path, ()).requests] == ["/"]


@pytest.mark.parametrize("end", ['"', '"\\', "", "{" * 999])
def test_a_broken_recording_is_no_har_export(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.har"
    path.write_text('{"log": "' + "," * VALUES_MAX + '", x' + end)
    assert "not JSON" in refused(lambda: read_har(path, ()))


# --- pipes and devices -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "read",
    [
        lambda path: read_har(path, ()),
        lambda path: read_urls(path, ()),
        lambda path: read_request(path, ()),
        lambda path: read_rows(path, Request(path="/{a}")),
        lambda path: workload("--body", path),
        lambda path: workload("--expect-body", path),
    ],
    ids=["har", "urls", "request", "data", "body", "expect-body"],
)
def test_a_file_with_requests_is_no_pipe(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    assert refused(lambda: read(path)).endswith("it is a pipe")


@pytest.mark.parametrize("path", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_a_pipe_that_httpbench_inherits_is_read(path: str) -> None:
    """``<(command)`` in a shell becomes such a path. The command may write later."""
    reading, writing = os.pipe()
    process = subprocess.Popen(["sh", "-c", "sleep 0.2; echo GET /a"], stdout=writing)
    os.close(writing)
    try:
        assert read_request(Path(path.format(reading)), ()).path == "/a"
    finally:
        os.close(reading)
        process.wait()


def test_standard_input_is_read() -> None:
    script = "from pathlib import Path; from httpbench.load.text_file import read; print(read(Path('/dev/stdin')).text)"
    done = subprocess.run([sys.executable, "-c", script], input="GET /a", capture_output=True, text=True, check=True)
    assert done.stdout == "GET /a\n"


def test_a_path_below_the_folder_of_inherited_files_may_be_a_pipe_elsewhere(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert refused(lambda: read_har(Path(f"/dev/fd/{folder}/pipe"), ())).endswith("it is a pipe")
    finally:
        os.close(folder)


@pytest.mark.parametrize("option", ["--body", "--expect-body"])
def test_a_body_is_small(tmp_path: Path, option: str) -> None:
    path = tmp_path / "body.bin"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    problem = refused(lambda: workload(option, path))
    assert problem == f"{option}: cannot read {path}: it is larger than 64 MB"


def test_a_body_may_be_empty_or_have_line_ends_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "body"
    path.write_bytes(b"a\r\nb\r\n")
    assert workload("--body", path).request.body == "a\nb\n"
    assert workload("--body", Path("/dev/null")).request.body == ""


# --- published results -----------------------------------------------------------------------------------------------------------


def test_published_results_take_memory_in_proportion_to_their_size(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    emoji = "\U0001f600".encode()
    path.write_bytes(b'["' + emoji + b'"' + b" " * (PUBLISHED_BYTES_MAX - 20) + b"]")
    with memory_below(200):
        assert read_published_json(path) == ["\U0001f600"]
    path.write_bytes(b'["' + emoji + b'"' + b" " * PUBLISHED_BYTES_MAX + b"]")
    assert "larger than 32 MiB" in refused(lambda: read_published_json(path))


def test_published_results_have_few_values(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text("[" + "{}," * (IMPORT_VALUES_MAX // 2) + "{}]")
    assert refused(lambda: read_published_json(path)) == f"{path}: the files of this import have more than 4,000,000 values together"


def test_half_of_a_character_is_found_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    for half in ("\\ud83d", "\\uD83D"):
        path.write_text(f'["{half}"]')
        with pytest.raises(ValueError, match="surrogate"):
            read_published_json(path)


def test_all_files_of_an_import_together_are_small(tmp_path: Path) -> None:
    clone = write_arena(tmp_path, baseline_64=[arena_row()], baseline_512=[arena_row()], baseline_4096=[arena_row()])
    paths = sorted((clone / "site" / "data").glob("baseline-*.json"))
    assert len(paths) == 3
    for path in paths:
        with path.open("a") as file:
            file.write(" " * (22 << 20))
    problem = refused(lambda: read_results(clone, catalog.load().workloads, ("httpbench",), None))
    assert problem.endswith("the files of this import are larger than 64 MiB together")


# --- git -------------------------------------------------------------------------------------------------------------------------


def commit_with_subject(folder: Path, parent: str, characters: int) -> str:
    """Create a commit. ``git commit`` takes longer for a large subject."""
    tree = git(folder, "rev-parse", f"{parent}^{{tree}}")
    person = "a <a@b> 1700000000 +0000"
    body = f"tree {tree}\nparent {parent}\nauthor {person}\ncommitter {person}\n\n".encode() + b"x" * characters + b"\n"
    data = b"commit %d\0" % len(body) + body
    name = hashlib.sha1(data).hexdigest()
    path = folder / ".git" / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(data, 1))
    return name


def test_subjects_of_commits_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (first,) = plant(tmp_path, [1])
    last = commit_with_subject(tmp_path, first, 20 << 20)
    monkeypatch.chdir(tmp_path)
    with memory_below(4):
        (line,) = commits_between(first, last)
    assert line.endswith("x..")
    assert len(line) < 250


def test_a_command_prints_little() -> None:
    argv = [sys.executable, "-c", "import sys; sys.stdout.write('x' * int(sys.argv[1]))"]
    done = capture([*argv, str(1 << 20)])
    assert done is not None and done.stdout == "x" * (1 << 20)
    with memory_below(64):
        assert capture([*argv, str(PRINTED_BYTES_MAX + 1)]) is None
        assert capture(["sh", "-c", "yes >&2"]) is None


def test_a_command_without_output_has_a_time_limit() -> None:
    begin_s = time.monotonic()
    assert capture(["sh", "-c", "exec >&- 2>&-; sleep 20"], timeout_s=0.3) is None
    assert capture(["sh", "-c", "while :; do echo; sleep 0.01; done"], timeout_s=0.3) is None
    assert time.monotonic() - begin_s < 5


def test_a_command_may_print_anything() -> None:
    done = capture(["sh", "-c", r"printf 'a\r\nb\377'; printf c >&2; exit 3"])
    assert done is not None and (done.stdout, done.stderr, done.returncode) == ("a\nb�", "c", 3)


def test_a_repository_whose_settings_include_a_pipe_holds_git_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = plant(tmp_path, [1, 2])
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / ".git" / "config").open("a") as file:
        file.write(f"[include]\n path = {tmp_path / 'pipe'}\n")
    monkeypatch.chdir(tmp_path)
    begin_s = time.monotonic()
    assert [commits_between(first, second) for _ in range(3)] == [[]] * 3
    assert git_commit(tmp_path) is None
    assert time.monotonic() - begin_s < 4

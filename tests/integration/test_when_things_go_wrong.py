"""Tests that each fault causes one clear message and the right exit code, and that no processes are orphaned and no trials lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.harness import TARGETS, Harness
from tests.quota import limited_processes
from tests.waiting import gone, until

MISBEHAVING = "test/misbehaving"


def trials(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    document = json.loads(done.stdout)
    return [trial for result in document["results"] for trial in result["rounds"]]


def verdict_of(done: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    (trial,) = trials(done)
    verdict = trial["verdict"]
    assert isinstance(verdict, dict)
    return verdict["kind"], "; ".join(verdict["reasons"])


def family_of(process: subprocess.Popen[str], at_least: int = 0) -> list[int]:
    """Wait until the process has at least this many descendants, and return their ids."""

    def members() -> list[int]:
        return [child.pid for child in psutil.Process(process.pid).children(recursive=True)]

    until(lambda: len(members()) >= at_least, limit_s=60)
    return members()


def name_of(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.name()
    return ""


FAILURES = {
    "misbehaving/exits-well": ("failed", "ended before it responded (exit code 0); a target must stay in the foreground"),
    "misbehaving/length-too-large": ("failed", "Content-Length says 14 bytes, but only 13 arrived"),
    "misbehaving/length-too-small": ("failed", "1 bytes after the end of the response"),
    "misbehaving/hangs": ("invalid", "did not respond within"),
    "misbehaving/wrong-address": ("failed", "; it listens on [::1]:"),
    "misbehaving/exits": ("failed", "ended before it responded (exit code 1)"),
    "needy": ("failed", "requires no-such-compiler ≥ 1.30"),
}


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, dict[str, Any]]]:
    """Run all targets that fail. Return the printed table, and the verdict of each target."""
    harness, document = Harness(tmp_path_factory.mktemp("failures")), tmp_path_factory.mktemp("export") / "run.json"
    done = harness.bench(*(f"test/{name}" for name in FAILURES), "--start-timeout", "3s", "--export-json", str(document))
    assert done.returncode == 1, done.stderr
    assert harness.runs()[0]["trials_done"] == len(FAILURES)
    return done.stdout, {result["target"]: result["rounds"][0]["verdict"] for result in json.loads(document.read_text())["results"]}


@pytest.mark.parametrize("name", FAILURES)
def test_a_misbehaving_target_fails_with_a_reason(failures: tuple[str, dict[str, dict[str, Any]]], name: str) -> None:
    kind, sentence = FAILURES[name]
    verdict = failures[1][f"test/{name}"]
    assert verdict["kind"] == kind
    assert sentence in "; ".join(verdict["reasons"])


def test_the_log_of_a_failed_target_is_shown(failures: tuple[str, dict[str, dict[str, Any]]]) -> None:
    assert "cannot read my configuration" in failures[0]


def test_a_missing_toolchain_is_reported(failures: tuple[str, dict[str, dict[str, Any]]]) -> None:
    assert "apt-get install no-such-package" in "; ".join(failures[1]["test/needy"]["reasons"])


@pytest.mark.slow
def test_a_target_that_never_answers_fails_with_a_reason(harness: Harness) -> None:
    done = harness.bench(f"{MISBEHAVING}/never-answers", "--export-json", "-")
    assert done.returncode == 1, done.stderr
    kind, reasons = verdict_of(done)
    assert kind == "failed"
    assert "did not respond within" in reasons


def test_an_impossible_load_is_refused_before_anything_is_built(harness: Harness) -> None:
    few_files = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))"
    done = harness.bench("test/unbuildable", "-c", "8,500", first=few_files)
    assert done.returncode == 2
    assert "500 connections are too many: a program may open 512 files here (ulimit -Hn)" in done.stderr
    assert harness.runs() == []


def test_a_missing_load_generator_is_reported_before_anything_is_built(harness: Harness, tmp_path: Path) -> None:
    env = {**harness.env, "PATH": str(tmp_path)}
    done = harness.bench("test/unbuildable", "--load-generator", "hey", "-d", "1s", "--timeout", "1s", env=env)
    assert done.returncode == 1
    assert "load generator hey is not installed" in done.stderr
    assert "hint: httpbench setup --load-generator hey" in done.stderr
    assert harness.runs() == []


@pytest.mark.parametrize(("mode", "is_valid"), [("leaves-some", False), ("good", True)])
def test_unanswered_requests_fail_in_an_open_loop_shorter_than_the_timeout(harness: Harness, mode: str, is_valid: bool) -> None:
    done = harness.bench(f"{MISBEHAVING}/{mode}", "-c", "64", "--rate", "500", "-d", "1s", "--timeout", "2s", "--export-json", "-")
    kind, reasons = verdict_of(done)
    assert ("(timeout " in reasons) is not is_valid, reasons
    assert is_valid or kind == "invalid", "a good server may miss the rate on a busy machine"


BREACHES = {
    "wrong-body": "body `Hello, World?`",
    "dies": "64 connections: it died (exit code 3)",
}
FURTHER_BREACHES = {
    "ignores-sigterm": "did not end on SIGTERM",
    "length-too-large": "Content-Length says 14 bytes",
    "date-stands": "Date",
    "takes-bodies": "the server mistook the body for a request",
    "turns-500": "10,000 requests over 64 connections: ",
    "loses-one": "requests failed (timeout 1)",
    "leaves-children": "left processes running",
}


def verified(harness: Harness, mode: str) -> subprocess.CompletedProcess[str]:
    return harness.run("verify", "--targets", str(TARGETS), f"{MISBEHAVING}/{mode}")


def test_verify_passes_a_target_that_follows_the_contract(harness: Harness) -> None:
    assert verified(harness, "good").returncode == 0


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [*BREACHES.items(), *(pytest.param(*breach, marks=pytest.mark.slow) for breach in FURTHER_BREACHES.items())],
)
def test_verify_fails_a_target_that_breaks_the_contract(harness: Harness, mode: str, sentence: str) -> None:
    done = verified(harness, mode)
    assert done.returncode == 1
    assert sentence in done.stdout


def test_an_interruption_also_ends_builds(harness: Harness, tmp_path: Path) -> None:
    folder = tmp_path / "slow"
    folder.mkdir()
    manifest = (TARGETS / "unbuildable" / "target.toml").read_text()
    (folder / "target.toml").write_text(manifest.replace("unbuildable", "slow").replace("exit 7", "sleep 1000"))
    process = harness.start("bench", "--targets", str(folder), "test/slow")
    family = family_of(process, at_least=3)  # the guard, the shell and its sleep
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130
    assert gone(family)


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system can be mounted by root only")
def test_a_full_temporary_folder_fails_the_trial_with_a_reason(harness: Harness, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], check=True)
    try:
        (small / "full").write_bytes(b"0" * ((1 << 20) - 4096))  # leaves one page free
        env = {**harness.env, "TMPDIR": str(small)}
        done = harness.bench(f"{MISBEHAVING}/good", "--rounds", "2", "--export-json", "-", env=env)
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert [trial["verdict"]["kind"] for trial in trials(done)] == ["failed"]  # type: ignore[index]
    assert "No space left on device" in done.stdout
    assert harness.runs()[0]["trials_done"] == 1


def test_a_target_fails_if_its_guard_is_killed(harness: Harness) -> None:
    done = harness.bench(f"{MISBEHAVING}/kills-its-guard", f"{MISBEHAVING}/good", "--export-json", "-")
    assert done.returncode == 1
    assert "the guard of a process tree was killed" in done.stdout
    assert harness.runs()[0]["trials_done"] == 2


@pytest.mark.slow
def test_invalid_input_gives_one_sentence_and_exit_code_2(harness: Harness) -> None:
    for words, sentence in {
        ("bench", "nginks"): '"nginks" matches no target (did you mean "nginx"?)',
        ("bench", "-c", "many"): '"many" is not a whole number above zero',
        ("bench", "-d", "fast"): '"fast" is not a duration',
        ("bench", "-d", "0"): '"0" is too short; the shortest is 1ms',
        ("bench", "-d", "400h"): "duration_s: should be less than or equal to 86400",
        ("bench", "--timeout", "0.1ms"): '"0.1ms" is too short',
        ("bench", "--start-timeout", "0s"): '"0s" is too short',
        ("bench", "-c", "8,99M"): "connections: should be less than or equal to 1000000",
        ("bench", "-t", "2000"): "threads: should be less than or equal to 1024",
        ("bench", "--pipeline", "5000"): "pipeline: should be less than or equal to 1024",
        ("bench", "--rounds", "1M"): "'1M' is not a valid integer",
        ("bench", "--path", "hello"): '"hello" is not a path: it must begin with a slash',
        ("bench", "--path", ""): '"" is not a path',
        ("bench", "--path", "/grüße du"): "percent-encoded",
        ("bench", "c/epoll", "--load-generator", "WRK"): "unknown load generator 'WRK'",
        ("bench", "--export-csv", ""): "cannot write the export",
        ("bench", "--suite", "quik"): 'unknown suite "quik" (did you mean "quick"?)',
        ("bench", "c/epoll", "--workload", "plaintxt"): 'unknown workload "plaintxt" (did you mean "plaintext"?)',
        ("bench", "c/epoll", "--load-generator", "wrq"): "wrq",
        ("bench", "c/epoll", "--export-json", "/no/such/folder/x.json"): "cannot write the export /no/such/folder/x.json",
        ("list", "--targets", "/no/such/folder"): "/no/such/folder: is not a folder",
        ("report", "nothing"): 'no run "nothing"',
        ("report",): "no run in",
    }.items():
        done = harness.run(*words)
        assert done.returncode == 2, (words, done.stderr)
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr


def test_unread_progress_does_not_fail_a_trial(harness: Harness) -> None:
    words = ("bench", "--targets", str(TARGETS), f"{MISBEHAVING}/good", "-c", "8", "-d", "300ms", "--warmup", "0s", "--rounds", "1")
    process = harness.start(*words, stdout=subprocess.DEVNULL)
    assert process.stderr
    process.stderr.close()
    process.wait(timeout=60)
    (run,) = harness.runs()
    assert (run["status"], run["trials_done"]) in [("finished", 1), ("stopped", 1)]
    assert "Broken pipe" not in harness.run("report").stdout


def test_writing_to_a_closed_pipe_is_not_an_error(harness: Harness) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = harness.run("list", "--json", "c/nginx", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("after_s", [0.01, 0.2], ids=["the command line", "a verb"])
def test_an_interruption_while_the_program_loads_prints_one_word(after_s: float) -> None:
    program = f"""
import os, signal, httpbench.cli
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
signal.setitimer(signal.ITIMER_REAL, {after_s})
httpbench.cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program, "list"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\ninterrupted\n")


def test_output_that_cannot_be_written_is_an_error(harness: Harness) -> None:
    with Path("/dev/full").open("w") as full:
        done = harness.run("list", "c/nginx", stdout=full)
    assert (done.returncode, done.stderr) == (1, "error: cannot write the output: No space left on device\n")


def test_a_terminal_without_unicode_is_not_an_error(harness: Harness) -> None:
    env = {**harness.env, "PYTHONIOENCODING": "ascii"}
    done = harness.run("list", "--long", "--targets", str(TARGETS), "test/needy", env=env)
    assert "no-such-compiler ? 1.30" in done.stdout
    said = [line for line in done.stderr.splitlines() if not line.startswith("not built: ")]
    assert (done.returncode, said) == (0, [])


@pytest.mark.parametrize("words", [(b"run", b"./serv\xe9r {port}"), (b"runs", b"--db", b"/tmp/\xff.db"), (b"list", b"\xc3(")])
def test_an_argument_that_is_not_utf8_gives_one_error(harness: Harness, words: tuple[bytes, ...]) -> None:
    done = subprocess.run([*map(os.fsencode, harness.argv()), *words], capture_output=True, text=True, env=harness.env)
    assert done.returncode == 2
    error, _ = done.stderr.splitlines()
    assert error.startswith(f"error: argument {len(words)} is not valid UTF-8: b'")
    assert done.stdout == ""


def test_a_current_folder_that_is_not_utf8_gives_one_error(harness: Harness, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"f\xf6lder")
    folder.mkdir()
    done = subprocess.run(harness.argv("run", "server {port}"), capture_output=True, text=True, env=harness.env, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the name of the current folder is not valid UTF-8: b'")


@pytest.mark.parametrize("count", [6, 10, 16])
def test_too_few_processes_give_one_error_and_none_is_left(harness: Harness, count: int) -> None:
    """Each limit stops the run at another place: where it starts a guard, a server, a load generator or a thread."""
    with limited_processes(count) as group:
        limited = replace(harness, before=("sh", "-c", f'echo $$ >{group}; exec "$@"', "sh"))
        server = "python3 -m http.server {port}"
        done = limited.run("run", server, server, "-c", "4", "-d", "200ms", "--warmup", "0s", "--rounds", "1", "--retries", "0")
        until(lambda: not group.read_text().split())
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    assert done.returncode == 1, said
    assert re.search(r"their number is limited|Resource temporarily unavailable(?!: None)|exit code 254", said), said


def test_a_run_in_a_deleted_folder_gives_one_error(harness: Harness, tmp_path: Path) -> None:
    folder = tmp_path / "deleted"
    folder.mkdir()
    deleting = replace(harness, before=("sh", "-c", f'cd {folder}; rmdir {folder}; exec "$@"', "sh"))
    server = "python3 -m http.server {port}"
    for words in (("run", server), ("list", "c/nginx"), ("report",)):
        done = deleting.run(*words, "-d", "200ms") if words[0] == "run" else deleting.run(*words)
        assert "Traceback" not in done.stderr, (words, done.stderr)

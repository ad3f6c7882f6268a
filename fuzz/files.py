"""Fuzz the files that httpbench reads from others, such as manifests, requests, exports, stacks of profiles, repositories and stores.

    python fuzz/files.py [--minutes 20] [--seed N] [--only TARGET]    exit code 0: no findings
    python fuzz/files.py --only store FILE                            try one file again

Each case changes a valid file at random, and runs a command of httpbench on it. A case is a failure if the command would show a traceback,
takes 2 s of CPU time, needs 1 GiB of memory, or makes git run a program that a repository's settings name. The seed, the target and the
number of a case determine its file. Failing files are saved in ``fuzz/artifacts/files``, one for each place in the code.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import itertools
import json
import os
import random
import resource
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import click
import mutate
import zstandard

from httpbench import paths
from httpbench.cli.main import cli
from httpbench.errors import HttpbenchError
from httpbench.host import commits_between
from httpbench.host.facts.git import git_commit
from httpbench.model import Run, Trial
from httpbench.profile import folded
from httpbench.quantiles import decoded, figures_us, recorded
from httpbench.report.data.json import render_json
from httpbench.stats.frames import areas, frames
from httpbench.stats.histogram import merged as merged_distribution
from httpbench.stats.histogram import merged_intervals, percentile_curve_us
from httpbench.store import Store
from tests import factories, hostile_repositories, made_runs, planted, published

SAVED = ROOT / "fuzz" / "artifacts" / "files"
SHARED_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Folder for temporary files. On a disk, SQLite would wait for the disk most of the time."""
CPU_S = 2.0
MEMORY_BYTES = 1 << 30
SILENT_S = 60.0
"""Maximum time without news from a worker. A worker that waits for something needs no CPU time."""
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
RAN = "ran"
"""Name of the file that the programs in a repository's settings create."""
TURN_S = 10.0
"""Time after which another target has its turn."""
CLONES = ROOT / "tests" / "targets"

Chance = random.Random


@dataclass(frozen=True)
class Target:
    """A kind of file. ``make`` returns the bytes of a case, and ``check`` reads them from ``path``."""

    path: str
    seeds: Callable[[], Sequence[bytes]]
    make: Callable[[Sequence[bytes], Chance], bytes]
    check: Callable[[Path, Chance], None]


@dataclass
class Found:
    """The findings of a run."""

    cases: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    """Number of failing cases by place in the code."""


# --- commands -------------------------------------------------------------------------------------------------------------------


def call(*words: str) -> None:
    """Run the command line, and let only those exceptions through that it would show as a traceback."""
    sys.argv = ["httpbench", *words]
    try:
        cli.main(args=list(words), prog_name="httpbench", standalone_mode=False)
    except HttpbenchError as error:
        if needed_memory(error):
            raise
    except (click.ClickException, click.Abort, BrokenPipeError):
        pass


def needed_memory(error: BaseException) -> bool:
    """Return whether the limit of memory led to an exception."""
    each: BaseException | None = error
    while each is not None:
        if isinstance(each, MemoryError):
            return True
        each = each.__cause__ or each.__context__
    return False


def check_manifest(path: Path, chance: Chance) -> None:
    call("list", "--targets", str(path.parent), *chance.choice(((), ("--json",))))
    paths.ids([path.parent])


def check_clone(layout: str) -> Callable[[Path, Chance], None]:
    def check(path: Path, chance: Chance) -> None:
        folder = f"{layout}:{next(parent for parent in path.parents if parent.name == layout)}"
        call("list", "--targets", folder, *chance.choice(((), ("--json",))))
        paths.ids([Path(folder)])

    return check


SHOWN = (
    (),
    ("--wide", "--explain"),
    ("--evidence",),
    *(("--format", name) for name in ("json", "csv", "markdown", "autocannon", "junit", "openmetrics", "hyperfine")),
)


def check_requests(option: str) -> Callable[[Path, Chance], None]:
    def check(path: Path, chance: Chance) -> None:
        call("run", "--url", "http://localhost/{id}", "--dry-run", option, str(path))

    return check


def check_export(path: Path, chance: Chance) -> None:
    none = f"--db={path.parent / 'none.db'}"
    if chance.random() < 0.2:
        call("compare", str(path), str(path), none, *chance.choice(((), ("--fail-if", "rps<-3%"), ("--export-json", "-"))))
    else:
        call("report", str(path), none, *chance.choice(SHOWN))


def check_results(project: str, above: int = 0) -> Callable[[Path, Chance], None]:
    """Return a check that imports, shows and audits published results: the file itself, or the folder ``above`` levels above its folder."""

    def check(path: Path, chance: Chance) -> None:
        db = path.parent / "results.db"
        call("runs", "--import", f"{project}:{path.parents[above] if above else path}", "--db", str(db))
        call("report", "--db", str(db), *chance.choice(SHOWN))
        call("audit", "--db", str(db), *chance.choice(((), ("--export-json", "-"), ("--export-markdown", "-"))))
        remove(db)

    return check


def check_histogram(path: Path, chance: Chance) -> None:
    try:
        texts = path.read_text(errors="replace").splitlines()
        for text in texts:
            figures_us(recorded(decoded(text)))
        parts = [factories.make_distribution(histogram=text) for text in texts]
        merged_distribution(parts)
        merged_intervals(parts)
        percentile_curve_us(parts)
    except HttpbenchError as error:
        if needed_memory(error):
            raise


def check_stacks(path: Path, chance: Chance) -> None:
    try:
        for stack in folded(path.read_text(errors="replace"), "a profiler"):
            list(areas(frames(stack)))
    except HttpbenchError as error:
        if needed_memory(error):
            raise


def check_repository(path: Path, chance: Chance) -> None:
    """Read the commits of a repository whose settings name programs."""
    folder, before = path.parents[1], Path.cwd()
    head = (folder / "head").read_text()
    os.environ["PATH"] = SYSTEM_PATH
    os.chdir(folder)
    try:
        git_commit(folder)
        commits_between(f"{head}", f"{head[:-1]}{chance.choice('0123456789abcdef')}")
        call("run", "--url", "http://localhost/", "--dry-run")
        if (folder / RAN).exists():
            (folder / RAN).unlink()
            raise AssertionError("git ran a program of the repository")
    finally:
        os.chdir(before)
        os.environ["PATH"] = str(before)


VERBS = (
    *(("report", *shown) for shown in SHOWN),
    ("runs",),
    ("runs", "--json"),
    ("runs", "--delete", "latest"),
    ("runs", "--prune", "1"),
    ("runs", "--import", "RESULTS"),
    ("history", "c"),
    ("history", "c", "--figure", "p99"),
    ("compare", "--across-environments"),
    ("compare", "first", "latest", "--across-environments"),
    ("noise", "--show"),
)


def check_store(path: Path, chance: Chance) -> None:
    results = path.parent / "results.json"
    for words in chance.sample(VERBS, 2):
        if words[-1] == "RESULTS":
            published.write_results(results)
        call(*(f"techempower:{results}" if word == "RESULTS" else word for word in words), "--db", str(path))


def remove(db: Path) -> None:
    """Remove a store with its log."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        db.with_name(db.name + suffix).unlink(missing_ok=True)


# --- files ----------------------------------------------------------------------------------------------------------------------


def files(pattern: str, folder: Path = CLONES) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob(pattern))]


def make_json(seeds: Sequence[bytes], chance: Chance) -> bytes:
    seed = chance.choice(seeds)
    if chance.random() < 0.15:
        return mutate.bytes_of(seed, chance)
    data = json.loads(seed)
    if chance.random() < 0.2:
        mutate.histograms(data, chance)
        return mutate.json_text(data)
    for part in ("results", "rawData"):  # most code reads these
        if part in data and chance.random() < 0.6:
            return mutate.json_text({**data, part: mutate.tree(data[part], chance, mutate.JSON_VALUES)})
    return mutate.json_text(mutate.tree(data, chance, mutate.JSON_VALUES))


def make_toml(seeds: Sequence[bytes], chance: Chance) -> bytes:
    seed = chance.choice(seeds)
    if chance.random() < 0.25:
        return mutate.bytes_of(seed, chance)
    return mutate.toml_text(mutate.tree(tomllib.loads(seed.decode()), chance, mutate.TOML_VALUES))


def make_bytes(seeds: Sequence[bytes], chance: Chance) -> bytes:
    return mutate.bytes_of(chance.choice(seeds), chance)


def make_compressed(seeds: Sequence[bytes], chance: Chance) -> bytes:
    """Compress a changed export, change a compressed one, or make one that becomes very large."""
    compress = chance.choice((zstandard.compress, gzip.compress))
    if chance.random() < 0.05:
        seed, size = chance.choice(seeds), chance.choice((1 << 20, 100 << 20, 600 << 20))
        part = chance.choice((b"[", b" ", b"0,", b'"a":0,', b'{"a":', b"[],", b"1", b"a"))
        start = chance.choice((b"", b"[", b"{", b'"', seed[: seed.find(b":") + 1]))
        return _repeated(start, part, size)
    if chance.random() < 0.5:
        return compress(make_json(seeds, chance))
    return mutate.bytes_of(compress(chance.choice(seeds)), chance)


def _repeated(start: bytes, part: bytes, size: int) -> bytes:
    """Compress a very long text without holding it in memory."""
    block = part * ((1 << 20) // len(part))
    engine = zstandard.ZstdCompressor().compressobj()
    return b"".join((engine.compress(start), *(engine.compress(block) for _ in range(size >> 20)), engine.flush()))


def make_histogram(seeds: Sequence[bytes], chance: Chance) -> bytes:
    lines = [chance.choice(seeds).decode() for _ in range(chance.choice((1, 2, 3)))]
    at = chance.randrange(len(lines))
    lines[at] = mutate.histogram(lines[at], chance)
    return "\n".join(lines).encode()


def make_store(seeds: Sequence[bytes], chance: Chance) -> bytes:
    return mutate.store(chance.choice(seeds), chance)


@cache
def runs() -> list[tuple[Run, list[Trial]]]:
    """Return small runs of each kind. Some contain histograms."""
    servers = made_runs.make_servers_run(made_runs.SERVERS[:3], (8,), rounds=3, duration_s=1.0)
    client = made_runs.make_clients_run()
    search, proxies = made_runs.make_search_run(), made_runs.make_proxies_run(("proxy:c/haproxy",))
    made = [factories.make_mixed_run(), servers, client, search, proxies, factories.make_pairs([0.01] * 6)]
    return [(run, [shortened(trial, number) for number, trial in enumerate(trials)]) for run, trials in made]


def shortened(trial: Trial, number: int) -> Trial:
    """Return a trial with this number and only the beginning of its time series, because most of a large file is alike."""
    return Trial.model_validate(cut({**trial.model_dump(), "plan": {**trial.plan.model_dump(), "number": number}}))


def cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: cut(each[:4] if key in ("intervals", "samples") else each) for key, each in value.items()}
    return tuple(map(cut, value)) if isinstance(value, tuple) else value


@cache
def exports() -> list[bytes]:
    return [render_json(*run).encode() for run in runs()]


@cache
def stores() -> list[bytes]:
    """Return stores with two runs each, without SQLite's log."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for at, (run, trials) in enumerate(runs()):
            path = Path(folder, f"{at}.db")
            with Store(path) as store:
                store.put(run.model_copy(update={"name": "first"}), trials)
                store.put(run.model_copy(update={"id": f"{run.id}-2"}), trials)
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA journal_mode = DELETE")
            made.append(path.read_bytes())
    return made


def results() -> list[bytes]:
    return [json.dumps(published.results()).encode()]


def web_frameworks_results() -> list[bytes]:
    return [json.dumps(published.web_frameworks(values)).encode() for values in (published.WRK_METRICS, published.LATER_METRICS)]


def arena_results() -> list[bytes]:
    return [json.dumps([published.arena_row(), published.arena_row("axum", reconnects=3)]).encode()]


STACKS = b"main;a::b;[c.so] 12\npython (7);f (m.py:3);g_[k] 0\nvfs_read_[k];asm_sysvec_apic_timer_interrupt_[k];softirq_[k] 7\n"


@cache
def settings() -> list[bytes]:
    """Return git's settings in a hostile repository of each kind. They name a command that creates the file ``RAN``."""
    made = []
    with tempfile.TemporaryDirectory() as place:
        for number, plant in enumerate(hostile_repositories.KINDS):
            folder = Path(place, str(number))
            plant_repository(folder)
            plant(folder, Path(f"touch {RAN}"))
            made.append((folder / ".git" / "config").read_bytes())
    return made


def plant_repository(folder: Path) -> None:
    """Create a repository in which git filters every file."""
    folder.mkdir()
    planted.git(folder, "init", "--quiet")
    (folder / "file").write_text("one")
    planted.git(folder, "add", "--all")
    planted.git(folder, "commit", "--quiet", "--message", "one")
    (folder / "head").write_text(planted.git(folder, "rev-parse", "HEAD"))
    (folder / ".gitattributes").write_text("* filter=planted diff=planted\n")
    (folder / "file").write_text("ow2")  # as long as before: git compares the filtered content
    (folder / ".git" / "more").write_text(f"[core]\n\tfsmonitor = touch {RAN}\n")


def histograms() -> list[bytes]:
    times = [factories.make_histogram(range(1000, 2_000_000, 1000)), factories.make_histogram([1]), factories.make_histogram([])]
    return [text.encode() for text in times]


RECORDING = {
    "log": {
        "entries": [
            {
                "request": {"method": "GET", "url": "http://localhost/a?b", "headers": [{"name": "A", "value": "b"}]},
                "response": {"status": 200},
            },
            {
                "request": {"method": "POST", "url": "http://localhost/", "headers": [], "postData": {"text": "a"}},
                "response": {"status": 302},
            },
        ]
    }
}
CURL = b"* a\n> POST /a?b HTTP/1.1\r\n> Host: localhost\r\n> A: b\r\n>\r\n< HTTP/1.1 200 OK\n"
HTTP_FILE = b"### a\n@b = c\nPOST http://localhost/{{b}} HTTP/1.1\n  ?d=e\nA: b\n\n{}\n###\n"


def manifests() -> list[bytes]:
    return [
        *files("*/target.toml"),
        *files("servers/*/*/target.toml", ROOT / "targets")[::8],
        *files("[cp]*/*/*/target.toml", ROOT / "targets")[::8],
    ]


TARGETS = {
    "manifest": Target("mine/target.toml", manifests, make_toml, check_manifest),
    "techempower": Target(
        "techempower/frameworks/Perl/small/benchmark_config.json",
        lambda: files("techempower/frameworks/Perl/[ast]*/benchmark_config.json"),
        make_json,
        check_clone("techempower"),
    ),
    "techempower-toml": Target(
        "techempower/frameworks/Perl/small/config.toml",
        lambda: files("techempower/frameworks/*/*/config.toml"),
        make_toml,
        check_clone("techempower"),
    ),
    "httparena": Target(
        "httparena/frameworks/small/meta.json",
        lambda: files("httparena/frameworks/[bds]*/meta.json"),
        make_json,
        check_clone("httparena"),
    ),
    "web-frameworks": Target(
        "web-frameworks/perl/small/.Dockerfile.default",
        lambda: files("web-frameworks/perl/small/.Dockerfile.*"),
        make_bytes,
        check_clone("web-frameworks"),
    ),
    "har": Target("shop.har", lambda: [json.dumps(RECORDING).encode()], make_json, check_requests("--har")),
    "request": Target("curl.http", lambda: [CURL, HTTP_FILE], make_bytes, check_requests("--request")),
    "urls": Target("urls.txt", lambda: [b"# a\r\n/b?c 3\nhttp://localhost/d#e\n"], make_bytes, check_requests("--urls")),
    "csv": Target("rows.csv", lambda: [b'id,a\r\n1,"b\n""c"""\r\n2,d\n'], make_bytes, check_requests("--data")),
    "jsonl": Target("rows.jsonl", lambda: [b'{"id": 1, "a": [2, null]}\n{"id": "b"}\n'], make_bytes, check_requests("--data")),
    "export": Target("run.json", exports, make_json, check_export),
    "compressed": Target("run.json.zst", exports, make_compressed, check_export),
    "results": Target("results.json", results, make_json, check_results("techempower")),
    "web-frameworks-results": Target("data.json", web_frameworks_results, make_json, check_results("web-frameworks")),
    "httparena-results": Target("arena/site/data/baseline-512.json", arena_results, make_json, check_results("httparena", above=2)),
    "stacks": Target("stacks.txt", lambda: [STACKS], make_bytes, check_stacks),
    "repository": Target("repository/.git/config", settings, make_bytes, check_repository),
    "histogram": Target("histogram.txt", histograms, make_histogram, check_histogram),
    "store": Target("store.db", stores, make_store, check_store),
}


# --- workers --------------------------------------------------------------------------------------------------------------------


def case(name: str, seed: int, number: int) -> bytes:
    """Return the file of a case."""
    target = TARGETS[name]
    return target.make(target.seeds(), Chance(f"{seed}/{name}/{number}"))


def prepare(folder: Path) -> None:
    """Hide this machine's programs, folders and targets, then read every valid file, so that workers begin with all modules loaded."""
    data = folder / "package" / "data"
    (data / "targets").mkdir(parents=True)
    for name in ("workloads", "suites"):
        shutil.copytree(ROOT / name, data / name)
    paths.PACKAGE = data.parent
    plant_repository(folder / "repository")
    settings()  # while git is in PATH
    os.environ.update(PATH=str(folder), HOME=str(folder), XDG_DATA_HOME=str(folder), XDG_CACHE_HOME=str(folder), COLUMNS="80")
    for name in ("techempower", "httparena", "web-frameworks"):
        shutil.copytree(CLONES / name, folder / name)


def attempt(name: str, data: bytes, folder: Path, chance: Chance) -> None:
    target = TARGETS[name]
    path = folder / target.path
    path.parent.mkdir(parents=True, exist_ok=True)
    remove(path)
    path.write_bytes(data)
    if name == "techempower-toml":
        (path.parent / "benchmark_config.json").unlink(missing_ok=True)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    try:
        target.check(path, chance)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        remove(path)


def work(name: str, cases: Iterator[tuple[int, bytes]], seed: int, folder: Path, news: int, ends: float) -> None:
    """Try cases until one exceeds a limit or the time is over. Write numbers and tracebacks to ``news``."""
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w", errors="replace")  # noqa: PTH123, SIM115
    output = os.fdopen(news, "w", buffering=1)
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    # When the time is over, the traceback is written even if C code doesn't return, and then the signal ends the process.
    faulthandler.register(signal.SIGPROF, output, all_threads=False, chain=True)
    faulthandler.enable(output, all_threads=False)
    try:
        for number, data in cases:
            if time.monotonic() > ends:
                break
            output.write(f"case {number}\n")
            try:
                attempt(name, data, folder, Chance(f"{seed}/{name}/{number}/command"))
            except BaseException as error:
                text = "".join(traceback.format_exception(error, limit=-12))[-6000:]
                output.write(f"failed {json.dumps(f'{text}{type(error).__name__}')}\n")
                if needed_memory(error):
                    break
        output.write("done\n")
    except BaseException:  # a bug in this program
        output.write(traceback.format_exc())


def run_worker(
    name: str, cases: Callable[[], Iterator[tuple[int, bytes]]], seed: int, folder: Path, ends: float
) -> Iterator[tuple[int, str | None]]:
    """Try cases in a new process. Yield the number of each case, and if the case fails, yield the number again with the traceback."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(name, cases(), seed, folder, writing, ends)
        finally:
            os._exit(0)
    os.close(writing)
    number, is_done, is_silent = -1, False, False
    tail: list[str] = []
    with os.fdopen(reading) as news:
        while True:
            if not select.select([news], [], [], SILENT_S)[0]:
                is_silent = True
                os.kill(child, signal.SIGKILL)
            if not (line := news.readline()):
                break
            word, _, rest = line.partition(" ")
            if word == "case":
                number, tail = int(rest), []
                yield number, None
            elif word == "failed":
                yield number, json.loads(rest)
            elif line == "done\n":
                is_done = True
            else:
                tail.append(line)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not is_done and number < 0:
        raise RuntimeError(f"the first case of {name} could not be made:\n{''.join(tail)}")
    if not is_done:
        if is_silent:
            what = f"did nothing for {SILENT_S:g} s"
        elif status == -signal.SIGPROF:
            what = f"needed {CPU_S:g} s of CPU time"
        else:
            what = f"ended with {status}"
        yield number, "".join((*tail[:30], what, "\n"))


def place_of(text: str) -> str:
    """Return a key that is equal for failures with the same cause: the last line of httpbench's code, and the kind of the exception."""
    lines = text.rstrip().splitlines()
    inside = [line.strip() for line in lines if "src/httpbench" in line or "File" in line]
    # faulthandler writes the innermost frame first.
    own = [line for line in inside if "src/httpbench" in line] or inside or [""]
    where = own[0] if "most recent call first" in text else own[-1]
    return f"{where}: {lines[-1]}"


def fuzz(name: str, seed: int, first: int, last: int, folder: Path, ends: float, found: Found) -> int:
    """Try the cases of one target from ``first`` until the time is over. Return the number of the next case."""
    number = first
    while number < last and time.monotonic() < ends:

        def cases(start: int = number) -> Iterator[tuple[int, bytes]]:
            return ((each, case(name, seed, each)) for each in range(start, last))

        for at, failure in run_worker(name, cases, seed, folder, ends):
            number = at + 1
            if failure is None:
                found.cases[name] += 1
                continue
            place = place_of(failure)
            found.failures[place] += 1
            if found.failures[place] == 1:
                SAVED.mkdir(parents=True, exist_ok=True)
                saved = SAVED / f"{name}-{seed}-{at}{Path(TARGETS[name].path).suffix}"
                saved.write_bytes(case(name, seed, at))
                shown = "\n".join(line[:300] for line in failure.splitlines())
                print(f"\n{name}, seed {seed}, case {at}: saved as {saved}\n{shown}", flush=True)
    return number


def again(name: str, named: Sequence[Path], folder: Path) -> int:
    """Try saved files with every command, and return the number of failures."""
    failures = 0
    for path in named:
        data = path.read_bytes()
        for _, failure in run_worker(name, lambda data=data: ((seed, data) for seed in range(30)), 0, folder, time.monotonic() + 300):  # type: ignore[misc]
            if failure is not None:
                failures += 1
                print(f"{path}\n{failure}", flush=True)
                break
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0, help="total time [default: 20]")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="maximum number of cases per target [default: no limit]")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="[default: random]")
    parser.add_argument("--only", choices=TARGETS, help="fuzz only this target")
    parser.add_argument("files", nargs="*", type=Path, help="saved files to try again; requires --only")
    options = parser.parse_args()
    if options.files and not options.only:
        parser.error("files require --only")
    chosen = [options.only] if options.only else list(TARGETS)
    named = [path.absolute() for path in options.files]
    with tempfile.TemporaryDirectory(prefix="httpbench-fuzz-", dir=SHARED_MEMORY) as place:
        folder = Path(place)
        prepare(folder)
        os.chdir(folder)
        if named:
            return bool(again(options.only, named, folder))
        for name in chosen:
            check_seeds(name, folder)
        return bool(fuzz_all(chosen, options, folder).failures)


def check_seeds(name: str, folder: Path) -> None:
    """Read the unchanged files in this process, so that workers begin with all modules loaded."""
    shown, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), *[open(os.devnull, "w") for _ in range(2)]  # noqa: PTH123, SIM115
    try:
        for number, data in enumerate(TARGETS[name].seeds()):
            attempt(name, data, folder, Chance(number))
    finally:
        sys.stdout, sys.stderr = shown


def fuzz_all(chosen: Sequence[str], options: argparse.Namespace, folder: Path) -> Found:
    print(f"seed {options.seed}", flush=True)
    found, began = Found(), time.monotonic()
    ends = began + options.minutes * 60
    following = dict.fromkeys(chosen, 0)
    for name in itertools.cycle(chosen):
        if time.monotonic() > ends or all(number >= options.cases for number in following.values()):
            break
        turn = min(ends, time.monotonic() + TURN_S)
        following[name] = fuzz(name, options.seed, following[name], options.cases, folder, turn, found)
    print(f"\n{time.monotonic() - began:.0f} s: {', '.join(f'{name} {number:,}' for name, number in found.cases.items())} cases")
    for place, number in found.failures.most_common():
        print(f"{number:,} failures: {place}")
    print(f"{len(found.failures)} different findings" if found.failures else "no findings")
    return found


if __name__ == "__main__":
    sys.exit(main())

"""Tests that text from other programs can't control the reader's terminal, in every format and verb that shows it."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from httpbench.analysis.changes import changes
from httpbench.cli.main import run_command_line
from httpbench.cli.terminal.console import fault, save
from httpbench.cli.terminal.safe_console import SafeConsole
from httpbench.model import (
    ClientWork,
    Gate,
    Kind,
    Label,
    Learned,
    Observation,
    Probed,
    RunStatus,
    SampledRequest,
    Table,
    Target,
    Trait,
    Verdict,
    VerdictKind,
    Workload,
)
from httpbench.model import Run as RunModel
from httpbench.model import Trial as TrialModel
from httpbench.report import CLIENT_FORMATS, FORMATS
from httpbench.report.data.changes import render_changes_json
from httpbench.report.data.read_json import read_export
from httpbench.report.html import render_changes_html
from httpbench.report.markdown.changes import render_changes_markdown
from httpbench.report.markdown.targets import render_versions
from httpbench.report.terminal.changes import render_changes
from httpbench.report.terminal.evidence import render_evidence
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.columns import View
from httpbench.report.words.targets import probe_lines, render_responses
from httpbench.store import Store
from tests.factories import (
    make_client,
    make_environment,
    make_measurement,
    make_plan,
    make_response,
    make_run,
    make_target,
    make_trial,
)
from tests.hostile import ALL, PIECES, STYLES, TEXTS, obeyed

NAME = "test/hostile"


@pytest.fixture(autouse=True, scope="module")
def _empty_charts() -> Iterator[None]:
    """Stub out the charts, because drawing them takes most of the time needed to render a page. ``tests/unit/report/charts`` tests them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpbench.report.html.parts.inline_svg", lambda drawing: f"<svg>{escape(drawing.title)}</svg>")
        yield


def hostile_run(text: str, kind: Kind = Kind.SERVER) -> tuple[RunModel, list[TrialModel]]:
    """Make a run with a valid, an invalid and a failed round. Each field that other programs can fill contains this text."""
    target = make_target(NAME, kind=kind, notes=text, run=("server", text), env={"NAME": text}, upstream=text, url=None)
    observed = Observation(trait=Trait.ROUTES, holds=False, sent=text, came=text)
    common: dict[str, Any] = {
        "response": make_response(headers=(("Server", text), (text, "x")), body=text),
        "learned": Learned(status=200, content_type=text),
        "log_tail": text,
        "probed": Probed(label=Label.CANNED, reasons=(text,), response_bytes=1, observations=(observed,)),
        "client": make_client(1.0) if kind is Kind.CLIENT else None,
        "measurement": make_measurement(generator_version=text, notes=(text,), errors={text: 1}),
    }
    kinds = (VerdictKind.GENERATOR, VerdictKind.INVALID, VerdictKind.FAILED)
    trials = [
        make_trial(make_plan(target.id, number=number, round_=number), Verdict(kind=verdict, reasons=(text,)), **common)
        for number, verdict in enumerate(kinds)
    ]
    work = ClientWork(requests=1000) if kind is Kind.CLIENT else None
    workload = Workload(name="plaintext", description=text, client=work)
    environment = make_environment(
        hostname=text,
        cpu_model=text,
        kernel=text,
        os=text,
        git_commit=text,
        versions={text: text},
        httpbench_version=text,
        tuning={text: text},
    )
    run = make_run(
        trials,
        {target.id: target},
        workloads={"plaintext": workload.model_copy(update={"request": workload.request.model_copy(update={"headers": {text: text}})})},
        environment=environment,
        command=("httpbench", "run", text),
        name=text,
        status=RunStatus.INTERRUPTED,
        table=Table.COMMANDS,
    )
    return run, trials


def on_console(renderable: Any, **options: Any) -> str:
    console = SafeConsole(file=io.StringIO(), **options)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def exports(run: RunModel, trials: list[TrialModel]) -> Mapping[str, str]:
    found = changes((run, trials), (run, trials), (Gate(figure="rps", side="<", change=-0.03),))
    # autocannon's format shows load on servers; hyperfine's shows clients.
    formats = {**FORMATS, **CLIENT_FORMATS} if trials[0].client else dict(FORMATS)
    if trials[0].client:
        del formats["autocannon"]
    return {
        **{name: render(run, trials) for name, render in formats.items()},
        "changes.md": render_changes_markdown(found),
        "changes.json": render_changes_json(found),
        "changes.html": render_changes_html(found),
        "versions": render_versions(run.environment.versions),
    }


@pytest.mark.parametrize("kind", [Kind.SERVER, Kind.CLIENT])
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
def test_no_export_controls_the_terminal_and_json_keeps_its_meaning(text: str, kind: Kind, tmp_path: Path) -> None:
    run, trials = hostile_run(text, kind)
    for name, export in exports(run, trials).items():
        save(export, tmp_path / name)
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert obeyed(written) == [], name
        if name == "json":
            assert read_export(tmp_path / name)[0].environment.hostname == text
            assert json.loads(written) == json.loads(export)


@settings(deadline=None, max_examples=25)
@given(text=TEXTS, width=st.sampled_from((20, 80, 240)), colours=st.booleans())
def test_no_console_output_controls_the_terminal(text: str, width: int, colours: bool) -> None:
    run, trials = hostile_run(text)
    found = changes((run, trials), (run, trials))
    response = trials[0].response
    assert response is not None
    for renderable in (
        render_terminal(run, trials, width=width),
        render_terminal(run, trials, width=width, view=View(wide=True, explain=True)),
        render_evidence(run, trials, width=width),
        render_changes(found, width=width),
        render_changes(found, width=width, view=View(wide=True, explain=True)),
        render_responses({NAME: response, text: SampledRequest(text=text)}),
        *(line for probed in (trials[0].probed,) if probed for line in probe_lines(run.targets[NAME], probed)),
    ):
        shown = on_console(renderable, width=width, force_terminal=colours, color_system="truecolor" if colours else None)
        assert obeyed(STYLES.sub("", shown) if colours else shown) == []
        assert "\x1b[8m" not in shown


def test_no_csv_cell_is_a_formula() -> None:
    for text in ("=1+1", "+1", "-1", "@SUM(1)", "\t=1"):
        run, trials = hostile_run(text)
        first = next(csv.DictReader(io.StringIO(FORMATS["csv"](run, trials))))
        assert first["verdict_reasons"] == f"'{text}"
        assert float(first["throughput_rps"]) > 0


def test_markdown_shows_the_original_text() -> None:
    run, trials = hostile_run("<img src=x>|`[a](b)`")
    text = FORMATS["markdown"](run, trials)
    assert "<img" not in "\n".join(line for line in text.splitlines() if not line.startswith("  "))
    assert "\\|\\`\\[a\\](b)\\`" in text


@pytest.mark.parametrize("name", [piece for piece in PIECES if piece not in ("+1", "-1")] + ["c/\n", "c/epoll\n"])
def test_hostile_ids_are_refused(name: str) -> None:
    """Ids appear unescaped in charts and hints."""
    with pytest.raises(ValidationError):
        Target(**{**make_target().model_dump(), "id": f"c/{name}"})


# --- verbs ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Store two runs that differ only in their ids."""
    path = tmp_path / "results.db"
    with Store(path) as store:
        for number in range(2):
            run, trials = hostile_run(ALL)
            store.begin(run.model_copy(update={"id": f"{run.id}{number}"}))
            for trial in trials:
                store.add(f"{run.id}{number}", trial)
    return path


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """Make a target with a manifest as hostile as the schema allows."""
    folder = tmp_path / "targets" / "hostile"
    folder.mkdir(parents=True)
    text = json.dumps(ALL)
    manifest = f"""
        kind = "server"
        language = "test"
        framework = "hostile"
        category = "micro"
        upstream = {json.dumps("https://" + ALL)}
        notes = {text}
        [[requires]]
        file = {json.dumps("/" + ALL)}
        install = {text}
        [[variant]]
        run = ["server", {text}, "{{port}}"]
    """
    (folder / "target.toml").write_text(manifest.encode("utf-8", "replace").decode(), encoding="utf-8")
    return folder.parent


STORED = [
    "report",
    "report --evidence",
    "report --explain --wide",
    "runs",
    "runs --json",
    "runs --delete latest",
    "history c",
    "compare",
    "compare --explain --wide",
    "compare --fail-if rps<-3%",
    "noise --show",
]
STORED += [f"report --export-{name} -" for name in FORMATS]
STORED += [f"compare --export-{name} -" for name in ("json", "markdown", "html")]
STORED += ["report nosuch", "compare nosuch"]
CATALOG = ["list", "list --json", "setup --print", "setup", "versions", "bench", "verify", "responses", "probe", "build", "bench --dry-run"]


@pytest.mark.parametrize("words", STORED)
def test_no_verb_that_shows_a_stored_run_lets_it_control_the_terminal(
    words: str, db: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shown = shown_by([*words.split(), "--db", str(db)], monkeypatch, capfd)
    assert obeyed(shown) == []
    assert "owned" in shown or not any(part in words for part in ("json", "markdown", "csv", "--limit"))


@pytest.mark.parametrize("words", CATALOG)
def test_no_verb_that_shows_a_target_lets_it_control_the_terminal(
    words: str, catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    verb, *options = words.split()
    shown = shown_by([verb, "--targets", str(catalog), "test/hostile", *options], monkeypatch, capfd)
    assert obeyed(shown) == []
    assert "hostile" in shown or verb == "versions"


@pytest.mark.parametrize(
    "words", [["list", ALL], ["report", ALL], ["bench", "--suite", ALL], [ALL], ["--" + ALL], ["run", ALL], ["runs", "-n", ALL]]
)
def test_no_error_controls_the_terminal(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert obeyed(shown_by([word.replace("\0", "") for word in words], monkeypatch, capfd)) == []


def test_no_exception_controls_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    error = RuntimeError(ALL)
    fault(RuntimeError, error, None)
    shown = capfd.readouterr().err
    assert "RuntimeError" in shown
    assert obeyed(shown) == []


def shown_by(words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    """Run the command and return everything it prints."""
    monkeypatch.setattr("sys.argv", ["httpbench", *words])
    monkeypatch.setattr("sys.excepthook", sys.excepthook)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    with pytest.raises(SystemExit):
        run_command_line()
    sys.stdout.flush()  # as Python does at its end
    captured = capfd.readouterr()
    return captured.out + captured.err

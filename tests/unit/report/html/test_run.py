"""Tests that the HTML report is complete, has no scripts or requests, and escapes all text. Browser tests check the rest."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from httpbench.analysis.changes import changes
from httpbench.analysis.groups import groups
from httpbench.errors import UsageError
from httpbench.model import Build, Commands, Run, Trial, VerdictKind
from httpbench.report import charts
from httpbench.report.charts.drawing import GLYPHS
from httpbench.report.data.json import Document, document
from httpbench.report.data.read_json import read_export
from httpbench.report.html import download, parts, render_changes_html, render_html
from httpbench.report.html.parts import HtmlTable, link, struck
from httpbench.report.words.claims import answer as result
from httpbench.report.words.loads import title
from tests.factories import (
    make_distribution,
    make_environment,
    make_failed,
    make_histogram,
    make_measurement,
    make_mixed_run,
    make_plan,
    make_response,
    make_rounds,
    make_run,
    make_target,
    make_trial,
)
from tests.made_runs import make_clients_run, make_proxies_run, make_search_run, make_shares_run

ATTACK = "<img src=x onerror=alert(1)></style></script><script>alert(2)</script>"
VOID = ("meta", "link", "br", "input")


class Page(HTMLParser):
    """The parts of a page that a browser would see."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def attributes(self, name: str) -> Iterator[str]:
        return (value for _, attributes in self.tags if (value := attributes.get(name)) is not None)


@pytest.fixture(autouse=True)
def _empty_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip drawing, which takes most of the time. Charts have their own tests."""
    monkeypatch.setattr(parts, "inline_svg", lambda drawing: '<svg class="marks"></svg>')


def page(run: Run, trials: list[Trial]) -> Page:
    return Page(render_html(run, trials))


@pytest.mark.parametrize("made", [make_mixed_run, make_clients_run, make_search_run, make_proxies_run, make_shares_run])
def test_a_page_has_no_scripts_requests_or_unknown_links(made: Callable[[], tuple[Run, list[Trial]]]) -> None:
    run, trials = made()
    text = render_html(run, trials)
    found = Page(text)
    assert not {tag for tag, _ in found.tags} & {"script", "iframe", "object", "embed", "form", "img", "base"}
    names = {name for _, attributes in found.tags for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in ("style", "src", "srcset", "action")}
    assert all(address.startswith(("#", "data:", "https://example.org/")) for address in found.attributes("href"))
    policy = next(attributes["content"] for tag, attributes in found.tags if attributes.get("http-equiv") == "Content-Security-Policy")
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None and policy is not None
    assert f"'sha256-{base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'") and "script-src" not in policy and "unsafe" not in policy
    ids = list(found.attributes("id"))
    assert len(ids) == len(set(ids))
    assert {address[1:] for address in found.attributes("href") if address.startswith("#")} <= set(ids)
    assert {trial.plan.target for trial in trials} <= set(ids)
    assert ("Latency that each proxy adds" in found.text) == (made in (make_proxies_run, make_shares_run))
    assert ("SLO (p99 < 2 ms, at most 0.1% failed) holds" in found.text) == (made is make_search_run)


def test_commands_of_build_target_and_loads_can_be_pasted() -> None:
    commands = Commands(target=("./server", "4711", "a b"), copies=2, load=("httpbench-loadgen", "-c", "64", "http://127.0.0.1:4711/"))
    target = make_target("c/a", build=Build(commands=(("make", "server"),)), run=("./server", "{port}"))
    trial = make_trial(make_plan("c/a"), commands=commands)
    text = page(make_run([trial], {"c/a": target}), [trial]).text
    assert "# build make server # target ./server 4711 'a b' # 2 copies # load: plaintext, 64 connections httpbench-loadgen -c 64" in text
    assert "./server '{port}'" in page(make_run([make_trial(make_plan("c/a"))], {"c/a": target}), [make_trial(make_plan("c/a"))]).text


def test_untrusted_text_is_escaped() -> None:
    target = make_target("c/a").model_copy(update={"notes": ATTACK, "upstream": "javascript:alert(3)", "run": ("./server", ATTACK)})
    trials = [
        *make_rounds("c/a", (1000, 1010, 1020), response=make_response(headers=((ATTACK, ATTACK),), body=ATTACK)),
        *(make_failed(make_plan("c/b", round_), ATTACK, log_tail=f"\x1b[31m{ATTACK}\u202e") for round_ in range(3)),
    ]
    environment = make_environment(hostname=ATTACK, cpu_model=ATTACK, versions={ATTACK: ATTACK}, tuning={ATTACK: ATTACK})
    run = make_run(trials, {"c/a": target}, name=ATTACK, command=("httpbench", ATTACK), environment=environment)
    text = render_html(run, trials)
    found = Page(text)
    assert not {"script", "img"} & {tag for tag, _ in found.tags}
    assert found.text.count("<img src=x onerror=alert(1)>") >= 10
    assert not [address for address in found.attributes("href") if address.startswith("javascript")]
    assert "\x1b" not in text and "\u202e" not in text
    assert "\\u001b[31m" in found.text


def test_parts_escape_their_input() -> None:
    assert "<img" not in link(ATTACK, ATTACK) and "<img" not in struck(ATTACK)
    assert 'href="#c/epoll/level@docker"' in link("c/epoll/level@docker", "x")


def test_the_answer_is_one_sentence() -> None:
    trials = [*make_rounds("c/a", (1000, 1001, 1002)), *make_rounds("c/b", (500, 501, 502)), *make_rounds("c/d", (400, 401, 402))]
    found = page(make_run(trials), trials)
    assert re.search(r"c/a serves (1\.99|2\.0)\S* ± \S+ times the requests of c/b", found.text)
    with_baseline = page(make_run(trials, baseline="c/d"), trials)
    assert "the requests of c/d" in with_baseline.text


def test_the_answer_is_the_same_as_on_a_terminal() -> None:
    tied = [*make_rounds("c/a", (1000, 1010, 990)), *make_rounds("c/b", (1005, 995, 1000)), *make_rounds("c/d", (400, 401, 402))]
    run = make_run(tied)
    (said,) = result(run, groups(run, tied)[0])
    assert said.startswith("rank 1 is undecided between c/a and c/b; ")
    assert said in page(run, tied).text


def test_results_verdicts_and_ranks_match_the_tables() -> None:
    run, trials = make_mixed_run()
    text = render_html(run, trials)
    found = Page(text)
    assert re.search(r"\b409,[89]\d\d\b", found.text) and "≥ 250,4" in found.text
    assert "<s>(402,100)</s>" in text, "invalid figures are struck through"
    for kind in (VerdictKind.TARGET, VerdictKind.GENERATOR, VerdictKind.IDLE, VerdictKind.INVALID, VerdictKind.FAILED):
        assert f'<span aria-hidden="true">{GLYPHS[kind]}</span> {kind}' in text
    assert "1,204 of 402,113 responses were wrong" in found.text
    assert "Address in use" in found.text, "the end of a log"
    assert "Content-Length: 13" in found.text, "a response"
    assert "./server" in found.text, "the command"


def test_number_columns_are_right_aligned_and_empty_columns_omitted() -> None:
    table = HtmlTable.of("t", ["a", "b", "c", "d"], [["x", "≥ 1,200", "", "generator 1"], ["y", struck("(3.5)"), "", "z"]])
    assert table.header == ["a", "b", "d"]
    assert table.numbers == [False, True, False]


def test_the_embedded_json_export_can_be_compared(tmp_path: Path) -> None:
    run, trials = make_mixed_run()
    address = next(address for address in page(run, trials).attributes("href") if address.startswith("data:application/gzip"))
    content = base64.b64decode(address.partition(",")[2])
    rounded = json.loads(document(run, trials).model_dump_json(by_alias=True), parse_float=lambda text: float(f"{float(text):.7g}"))
    assert json.loads(gzip.decompress(content)) == rounded
    path = tmp_path / "run.json.gz"
    path.write_bytes(content)
    again, trials_again = read_export(path)
    assert again.id == run.id and len(trials_again) == len(trials)
    path.write_bytes(content[:100])
    with pytest.raises(UsageError, match="cannot be read"):
        read_export(path)


def test_the_embedded_export_keeps_small_histograms(monkeypatch: pytest.MonkeyPatch) -> None:
    times = make_distribution(100, count=3, histogram=make_histogram([1000, 2000, 3000]))
    trials = make_rounds("c/a", (1000, 1010, 1020), measurement=make_measurement(service_time_us=times))
    run = make_run(trials)

    def inside() -> tuple[Document, bool]:
        found = download.download(run, trials)
        content = gzip.decompress(base64.b64decode(found["address"].partition(",")[2]))
        return Document.model_validate_json(content), found["has_histograms"]

    found, has_histograms = inside()
    assert has_histograms
    rounds = [each.measurement for each in found.results[0].rounds]
    assert all(each and each.service_time_us and each.service_time_us.histogram for each in rounds)
    summary = found.results[0].summary.service_time_us
    assert summary and summary.merged and summary.merged.count == 9 and summary.merged.histogram is None
    monkeypatch.setattr(download, "BYTES_MAX", 10)
    found, has_histograms = inside()
    assert not has_histograms
    assert not [each for each in found.results[0].rounds if each.measurement and each.measurement.service_time_us.histogram]  # type: ignore[union-attr]
    assert "Histograms are left out" in page(run, trials).text


def test_a_page_without_trials_says_so() -> None:
    run, _ = make_mixed_run()
    assert "No trial was finished." in page(run, []).text


def test_the_error_names_the_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "PACKAGES", ("no_such_package",))
    with pytest.raises(UsageError, match="HTML reports require the packages altair, jinja2 and vl-convert-python") as raised:
        render_html(*make_mixed_run())
    assert raised.value.hint == "pip install 'httpbench[charts]'"


def test_changes_show_before_and_after_largest_first() -> None:
    base = [*make_rounds("c/a", (1000, 1001, 1002)), *make_rounds("c/b", (1000, 1001, 1002))]
    head = [*make_rounds("c/a", (990, 991, 992)), *make_rounds("c/b", (500, 501, 502))]
    found = Page(render_changes_html(changes((make_run(base), base), (make_run(head), head))))
    assert found.text.index("c/b, plaintext single -c 64") < found.text.index("c/a, plaintext single -c 64")
    assert "-50.0%" in found.text and "-1.0%" in found.text
    assert "changed significantly" in found.text
    assert not {"script", "img"} & {tag for tag, _ in found.tags}


def test_charts_do_not_repeat_the_title_of_their_table() -> None:
    trials = [*make_rounds("c/a", (100.0, 102.0, 104.0)), *make_rounds("c/b", (90.0, 91.0, 92.0))]
    run = make_run(trials)
    page = render_html(run, trials)
    (table,) = groups(run, trials)
    captions = re.findall("<figcaption>(.*?)</figcaption>", page)
    assert len(captions) >= 2
    assert not any(title(table) in caption for caption in captions)

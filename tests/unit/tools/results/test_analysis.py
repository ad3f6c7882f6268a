"""Tests of the analysis page: a generated part, and a hand-written part below it."""

from __future__ import annotations

from httpbench.model import Load
from tests.factories import make_environment, make_failed, make_mixed_run, make_plan, make_run, make_trial
from tests.made_runs import make_clients_run, make_proxies_run
from tools.results.analysis import MARK, analysis_page


def test_the_page_states_the_results_of_the_run() -> None:
    page = analysis_page(*make_mixed_run(), "quick")
    shown = page.partition("## What the run shows")[2].partition("## What limits these figures")[0]
    assert "### plaintext · target on one core · 64 connections" in shown
    assert "- rank 1 is undecided between c/epoll/level and c/nginx; " in shown
    assert "- rust/hyper has no figures: did not respond within 10 s" in shown
    assert "picture" not in page and "could not run" not in page


def test_a_target_that_fails_in_every_table_is_listed_once() -> None:
    builds = [make_plan(name, load=Load(connections=each)) for each in (8, 64) for name in ("c/broken", "c/nginx")]
    trials = [make_failed(plan, "its build failed") if plan.target == "c/broken" else make_trial(plan) for plan in builds]
    page = analysis_page(make_run(trials), trials, "quick")
    assert "has no figures" not in page
    assert "### Targets without figures\n\n- c/broken: its build failed\n\n## What limits" in page


def test_the_page_lists_targets_that_could_not_run() -> None:
    page = analysis_page(*make_mixed_run(), "quick", skipped=("nim/httpbeast: requires nim ≥ 1.6",))
    assert "### Targets of the suite that could not run\n\n- nim/httpbeast: requires nim ≥ 1.6\n" in page


def test_the_page_states_what_limits_the_results() -> None:
    run, trials = make_mixed_run()
    virtual = run.model_copy(update={"environment": make_environment(virtualization="kvm", cpu_quota_cores=1.5), "scale": 0.1})
    limits = analysis_page(virtual, trials, "quick").partition("## What limits these figures")[2].partition(MARK)[0]
    for sentence in (
        "Targets had at most 1 core. How they scale beyond that was not measured.",
        "The load came over loopback",
        "The machine is virtual.",
        "limit httpbench to 1.5 cores",
        "multiplied by 0.1",
        "The noise floor of this machine is unknown",
    ):
        assert sentence in limits


def test_clients_and_proxies_have_a_page() -> None:
    clients = analysis_page(*make_clients_run(), "http-clients")
    assert "- c/curl was\n  - 2 times (1.2 to 3.3) faster than golang/http-client\n" in clients
    assert "noise" not in clients, "that of servers says nothing of clients"
    assert "offered 2,000 to 5,000 requests/s" in analysis_page(*make_proxies_run(), "tcp-proxies")


def test_a_new_page_has_a_frame_for_the_handwritten_part() -> None:
    run, trials = make_mixed_run()
    page = analysis_page(run, trials, "quick")
    assert page.endswith(
        f"{MARK}\n\nWritten for run {run.id}.\n\n## What can be concluded\n\nNot written yet.\n\n"
        "## What cannot be concluded\n\nNot written yet.\n"
    )


def test_the_handwritten_part_is_kept() -> None:
    run, trials = make_mixed_run()
    before = f"# old\n\n{MARK}\n\nFor {run.id}: epoll wins.\n"
    page = analysis_page(run, trials, "quick", before=before)
    assert page.endswith(f"{MARK}\n\nFor {run.id}: epoll wins.\n")
    assert "# old" not in page and "earlier run" not in page
    again = analysis_page(run.model_copy(update={"id": "20270101T000000-beef"}), trials, "quick", before=page)
    assert f"**The text below was written for an earlier run.**\n\n{MARK}\n\nFor {run.id}: epoll wins.\n" in again


def test_pictures_follow_the_readers_setting() -> None:
    page = analysis_page(*make_mixed_run(), "quick", ("chart-light.svg", "chart-dark.svg"))
    assert '(prefers-color-scheme: dark)" srcset="chart-dark.svg">' in page and 'src="chart-light.svg">' in page


def test_untrusted_names_are_escaped() -> None:
    run, trials = make_mixed_run()
    hostile = run.model_copy(update={"environment": make_environment(cpu_model="](http://x)<img src=x onerror=alert(1)>")})
    page = analysis_page(hostile, trials, "quick")
    assert "<img src=x" not in page and "](http" not in page.replace("\\](http", "")

"""Tests that runs are stored without secrets and without long bodies."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from httpbench.load.requests import workload_of
from httpbench.model import Commands, Expectation, ListedRequest, Request, Workload
from httpbench.run.rounds.kept import REDACTED, Secrets, kept_run, kept_trial
from tests.factories import make_response, make_run, make_target, make_trial

TOKEN = "s3cr3t-t0ken-0123"
PASSWORD = "hunter2-hunter2"
WORKLOAD = Workload(
    name="request",
    description="",
    request=Request(headers={"Authorization": f"Bearer {TOKEN}", "Accept": "text/plain", "X-Whatever": "1"}),
)
OWN = make_target("command/app", category=None, env={"PASSWORD": PASSWORD, "WORKERS": "4"}, run=("./app", f"--password={PASSWORD}"))
SECRETS = Secrets.of([OWN], [WORKLOAD])
COMMAND = (
    *("httpbench", "run", "./app", "--env", f"PASSWORD={PASSWORD}", f"--env=OTHER={PASSWORD}"),
    *("-H", f"Authorization: Bearer {TOKEN}", f"-HCookie: a={TOKEN}", f"--header=X-Key: {TOKEN}", "-qH", "X-Short: 1"),
    *("-H", "Accept: text/plain", "--prepare", f"psql postgres://me:{PASSWORD}@db/x", "--url", "http://me:pw@localhost/"),
)


def test_environment_and_authorization_are_redacted_in_the_store() -> None:
    run = make_run([make_trial()], command=COMMAND).model_copy(update={"targets": {OWN.id: OWN}, "workloads": {WORKLOAD.name: WORKLOAD}})
    kept = kept_run(run, SECRETS)
    text = kept.model_dump_json()
    for secret in (TOKEN, PASSWORD, "me:pw"):
        assert secret not in text
    assert kept.targets[OWN.id].env == {"PASSWORD": REDACTED, "WORKERS": REDACTED}
    assert kept.workloads["request"].request.headers == {"Authorization": REDACTED, "Accept": "text/plain", "X-Whatever": REDACTED}
    assert kept.command[4:] == (
        *(f"PASSWORD={REDACTED}", f"--env=OTHER={REDACTED}", "-H", f"Authorization: {REDACTED}", f"-HCookie: {REDACTED}"),
        *(f"--header=X-Key: {REDACTED}", "-qH", f"X-Short: {REDACTED}", "-H", "Accept: text/plain"),
        *("--prepare", f"psql postgres://{REDACTED}@db/x", "--url", f"http://{REDACTED}@localhost/"),
    )


def test_the_command_lines_of_a_trial_have_no_secrets() -> None:
    options = ("-H", "X-Short: 1", "--header", "X-Short:1", "--headers=X-Short:1", "-H", "Accept: text/plain")
    commands = Commands(target=("./app", f"--password={PASSWORD}"), load=("loadgen", *options, "http://me:pw@localhost/"))
    kept = kept_trial(make_trial(commands=commands), SECRETS).commands
    assert kept is not None
    assert kept.target == ("./app", f"--password={REDACTED}")
    assert kept.load[1:] == (
        *("-H", f"X-Short: {REDACTED}", "--header", f"X-Short: {REDACTED}", f"--headers=X-Short: {REDACTED}"),
        *("-H", "Accept: text/plain", f"http://{REDACTED}@localhost/"),
    )


def test_a_log_and_a_response_that_repeat_a_secret_are_redacted() -> None:
    response = make_response(headers=(("X-Echo", f"Bearer {TOKEN}"),), body=f"you are {TOKEN}")
    kept = kept_trial(make_trial(response=response, log_tail=f"password is {PASSWORD}"), SECRETS)
    assert kept.log_tail == f"password is {REDACTED}"
    assert kept.response
    assert kept.response.headers == (("X-Echo", REDACTED),)
    assert kept.response.body == f"you are {REDACTED}"


def test_declared_variables_and_short_values_are_kept() -> None:
    declared = make_target("c/epoll/level", env={"MODE": "production"})
    run = make_run([make_trial(log_tail="4 workers")], targets={"c/epoll/level": declared})
    assert kept_run(run, SECRETS).targets["c/epoll/level"].env == {"MODE": "production"}
    assert kept_trial(make_trial(log_tail="4 workers"), SECRETS).log_tail == "4 workers"


@pytest.mark.parametrize("length", [0, 2000, 2001, 100_000])
def test_a_stored_body_is_cut_to_2000_characters_and_keeps_its_whole_sha256(length: int) -> None:
    body = "é" * length
    response = make_response(body=body, body_sha256=hashlib.sha256(body.encode()).hexdigest())
    kept = kept_trial(make_trial(response=response), Secrets(())).response
    assert kept
    assert kept.body == body[:2000]
    assert kept.body_sha256 == response.body_sha256


def test_long_bodies_of_a_workload_are_stored_as_hashes() -> None:
    body = "x" * 5000
    digest = hashlib.sha256(body.encode()).hexdigest()
    workload = WORKLOAD.model_copy(update={"request": Request(method="POST", body=body), "expect": Expectation(body=body)})
    kept = kept_run(make_run([make_trial()]).model_copy(update={"workloads": {"request": workload}}), SECRETS).workloads["request"]
    assert kept.expect == Expectation(body_sha256=digest, body_bytes=5000)
    assert kept.request.body == f"{'x' * 2000}… (5,000 characters, SHA-256 {digest})"


def test_a_list_of_requests_is_stored_as_its_template() -> None:
    listed = [ListedRequest(request=Request(path=f"/users/{name}", headers={"X-Key": f"{TOKEN}-{name}"})) for name in ("ann", "bo")]
    template = Request(path="/users/{name}", headers={"X-Key": "{key}"})
    workload = workload_of(Path("users.csv"), listed, Expectation(), template)
    secrets = Secrets.of([], [workload])
    assert secrets.out_of(f"got {TOKEN}-ann and {TOKEN}-bo") == f"got {REDACTED} and {REDACTED}"
    run = make_run([make_trial()]).model_copy(update={"workloads": {workload.name: workload}})
    kept = kept_run(run, secrets).workloads[workload.name]
    assert TOKEN not in kept.model_dump_json() and "ann" not in kept.model_dump_json()
    assert kept.listed is not None and workload.listed is not None
    assert (kept.listed.requests, kept.listed.count, kept.listed.sha256) == ((), 2, workload.listed.sha256)
    assert kept.request == kept.listed.template == template.model_copy(update={"headers": {"X-Key": REDACTED}})

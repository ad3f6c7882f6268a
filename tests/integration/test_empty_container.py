"""Tests of the wheel and of the GitHub Action in a container of Debian that has Python, but no compiler and no Rust."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from httpbench.paths import root
from tests import containers, packages
from tests.github import ActionJob, GithubApi, jobs_of
from tests.planted_pull_request import plant

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]

PACKAGES = ("python3", "python3-venv", "git", "ca-certificates")
CERTIFICATES = Path("/etc/ssl/certs")
LIFETIME_S = 900


@pytest.fixture(scope="module")
def wheel() -> Path:
    return packages.wheel()


@pytest.fixture
def container(docker_engine: str, wheel: Path, tmp_path: Path) -> Iterator[str]:
    """Start a container in which the wheel, this repository and the test's own folder have the same paths as here."""
    image, name = containers.base(docker_engine, *PACKAGES), f"httpbench-test-{uuid4().hex}"
    shared = {tmp_path: "rw", wheel.parent: "ro", root(): "ro", CERTIFICATES: "ro"}
    folders = [word for folder, mode in shared.items() for word in ("--volume", f"{folder}:{folder}:{mode}")]
    settings = [word for key in os.environ if key.startswith("PIP_") for word in ("--env", key)]
    containers.docker(
        "run", "--detach", "--rm", "--init", "--network", "host", "--name", name, *folders, *settings, image, "sleep", str(LIFETIME_S)
    )
    try:
        yield name
    finally:
        containers.docker("rm", "--force", name)


def test_the_wheel_compares_servers_at_once(container: str, wheel: Path) -> None:
    def run(command: str) -> str:
        begin = time.monotonic()
        argv = ["docker", "exec", "--workdir", "/root", container, "bash", "-c", f'PATH="/root/venv/bin:$PATH"; {command}']
        done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
        print(f"$ {command}\n{done.stdout}{done.stderr}# {time.monotonic() - begin:.1f} s")
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    run("! command -v rustc cc gcc")
    run("python3 -m venv venv")
    run(f"pip install --quiet '{wheel}'")
    server = "python3 -m http.server {port}"
    compared = run(f"httpbench run '{server}' '{server}' -c 4 -d 1s --rounds 3 --retries 0")
    assert "http.server-2" in compared
    run("httpbench setup --yes c/nginx")
    exported = run("httpbench bench c/nginx -d 1s --rounds 1 --retries 0 --export-json -")
    (result,) = json.loads(exported)["results"]
    assert result["rounds"][0]["measurement"]["throughput_rps"] > 0


def test_the_jobs_of_the_page_on_ci_gate_a_pull_request_and_comment_on_it(container: str, wheel: Path, tmp_path: Path) -> None:
    """The steps of both jobs run with the inputs of the page, and with a server, options and a wheel of this test."""
    jobs = jobs_of(root() / "docs/ci.md")
    own = {
        "server": "python3 server.py {port}",
        "build": "cp source.py server.py",
        "fail-if": "memory>20%\n",
        "options": "--rounds 6 -d 300ms --warmup 100ms -c 2 --retries 0",
        "package": f"{wheel}[charts]",
    }
    base, temporary = plant(tmp_path / "checkout"), tmp_path / "runner"
    temporary.mkdir()
    with GithubApi() as api:
        gate = ActionJob(root(), tmp_path / "checkout", api.variables(tmp_path, base), temporary, container)
        code = gate.run({**jobs["gate"], **own})
        assert api.comments == []
        commenting = ActionJob(root() / "comment", tmp_path, api.variables(tmp_path), temporary, container)
        assert commenting.run(jobs["comment"]) == 0
    (comment,) = api.comments
    print(comment["body"])
    assert code == 3
    assert gate.outputs == {"exit-code": "3"}
    assert "\nBREACHED memory>+20%: head against base" in comment["body"]
    assert "| memory>+20% | breached |" in gate.summary.read_text(encoding="utf-8")
    assert {path.suffix for path in (temporary / "httpbench-report").iterdir()} == {".html", ".json", ".md", ".txt", ".xml"}

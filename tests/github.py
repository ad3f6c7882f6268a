"""A stand-in for GitHub: an API that keeps comments, and a runner for the ``run:`` steps of a composite action."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from markdown_it import MarkdownIt
from ruamel.yaml import YAML

REPOSITORY = "someone/something"
PULL_REQUEST = 7
EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")


class GithubApi:
    """The comments on one pull request. Use it as a context manager."""

    def __init__(self, refuses: int = 0) -> None:
        """Create the API. If ``refuses`` is given, each change gets this status."""
        self.comments: list[dict[str, Any]] = []
        self.tokens: set[str] = set()
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                query = dict(part.split("=") for part in self.path.partition("?")[2].split("&"))
                start = (int(query["page"]) - 1) * int(query["per_page"])
                self._respond(200, api.comments[start : start + int(query["per_page"])])

            def do_POST(self) -> None:
                assert self.path == f"/repos/{REPOSITORY}/issues/{PULL_REQUEST}/comments"
                self._change({"id": len(api.comments) + 1})

            def do_PATCH(self) -> None:
                number = int(self.path.removeprefix(f"/repos/{REPOSITORY}/issues/comments/"))
                self._change(api.comments[number - 1])

            def _change(self, comment: dict[str, Any]) -> None:
                data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                api.tokens.add(self.headers["Authorization"])
                if refuses:
                    self._respond(refuses, {})
                    return
                if comment not in api.comments:
                    api.comments.append(comment)
                comment.update(data, user={"login": "github-actions[bot]"})
                self._respond(200, comment)

            def _respond(self, status: int, content: object) -> None:
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> GithubApi:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def variables(self, folder: Path, base: str = "") -> dict[str, str]:
        """Return the variables that a step of a job for the pull request gets. Creates its event in ``folder``."""
        event = folder / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": PULL_REQUEST, "base": {"sha": base}}}), encoding="utf-8")
        return {
            "GITHUB_API_URL": f"http://127.0.0.1:{self._server.server_port}",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "42",
            "GITHUB_SERVER_URL": "https://github.test",
        }


def jobs_of(page: Path) -> dict[str, dict[str, str]]:
    """Return the inputs of our action in each job of the first workflow on a page."""
    first = next(token.content for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")) if token.info == "yaml")
    jobs = YAML(typ="safe").load(first)["jobs"]
    return {name: step.get("with", {}) for name, job in jobs.items() for step in job["steps"] if step["uses"].startswith("OWNER/httpbench")}


@dataclass
class ActionJob:
    """A job that runs the ``run:`` steps of a composite action in a checkout."""

    action: Path
    """Folder with ``action.yml``."""
    checkout: Path
    variables: dict[str, str]
    temporary: Path
    """Folder for temporary files, which must exist."""
    container: str | None
    """Name of a running container in which the steps run, with the same paths of all folders. ``None``: they run on this machine."""
    event: str = "pull_request"
    outputs: dict[str, str] = field(default_factory=dict)
    """Outputs of the steps so far."""

    @property
    def summary(self) -> Path:
        return self.temporary / "summary.md"

    def run(self, inputs: dict[str, str]) -> int:
        """Run the steps until one fails. Return the exit code of the last."""
        definition = YAML(typ="safe").load(self.action / "action.yml")
        event = json.loads(Path(self.variables["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        values = {"github.token": "secret", "github.event.pull_request.base.sha": event["pull_request"]["base"]["sha"]}
        assert inputs.keys() <= definition["inputs"].keys()
        for name, declared in definition["inputs"].items():
            given = inputs[name] if declared.get("required") or name in inputs else declared["default"]
            values[f"inputs.{name}"] = EXPRESSION.sub(lambda found: values[found[1]], given)
        for step in definition["runs"]["steps"]:
            if "run" in step and self._is_run(step) and (code := self._step(step, values)):
                return code
        return 0

    def _is_run(self, step: dict[str, Any]) -> bool:
        """Return whether the condition of a step holds. Conditions say which names the event doesn't have, joined by ``&&``."""
        names = re.findall(r"github\.event_name != '(\w+)'", step.get("if", ""))
        return self.event not in names

    def _step(self, step: dict[str, Any], values: dict[str, str]) -> int:
        given = {name: EXPRESSION.sub(lambda found: values[found[1]], text) for name, text in step.get("env", {}).items()}
        output = self.temporary / "output"
        output.write_text("")
        known = {
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(self.checkout),
            "RUNNER_TEMP": str(self.temporary),
        }
        environment = {"LANG": "C.UTF-8", **self.variables, **known, **given}
        argv = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        passed = [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
        inside = ["docker", "exec", "--workdir", str(self.checkout), *passed, self.container] if self.container else []
        own = {"PATH": os.environ["PATH"], **environment}
        code = subprocess.run([*inside, *argv], cwd=self.checkout, env=None if inside else own, timeout=300, check=False).returncode
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            values[f"steps.{step['id']}.outputs.{name}"] = self.outputs[name] = value
        return code

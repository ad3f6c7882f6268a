"""Comment on a pull request with a report, or replace the comment of an earlier run. Runs in a step of a GitHub Action.

Usage: comment.py REPORT.txt

The code of the pull request may have written the report, so it is shown as plain text: in a code block, GitHub makes no links, mentions
or HTML of it. Without permission to comment, as for pull requests from forks, it prints a warning and succeeds. The report is also on the
job's page.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHARACTERS_MAX = 65_536
"""Maximum length of a comment on GitHub, in characters."""
BYTES_MAX = 4 * CHARACTERS_MAX
AUTHOR = "github-actions[bot]"
"""Login of the account to which a job's token belongs."""
PER_PAGE = 100
TIMEOUT_S = 30
NOT_PERMITTED = (401, 403, 404)


def main(report: Path) -> None:
    """Create or replace the comment. Raise :class:`urllib.error.HTTPError` if GitHub responds with an unexpected error."""
    text = _untrusted_text(report)
    if text is None:
        print("::warning::there is no report to comment with, because the measurement failed")
        return
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    repository = os.environ["GITHUB_REPOSITORY"]
    thread = f"repos/{repository}/issues/{event['pull_request']['number']}/comments"
    marker = f"<!-- httpbench: {os.environ['NAME']} -->"
    body = comment(marker, text)
    try:
        existing = next((each["id"] for each in _comments(thread) if _is_own(each, marker)), None)
        if existing is None:
            _request("POST", thread, {"body": body})
        else:
            _request("PATCH", f"repos/{repository}/issues/comments/{existing}", {"body": body})
    except urllib.error.HTTPError as error:
        if error.code not in NOT_PERMITTED:
            raise
        print("::warning::not permitted to comment; the job needs the permission pull-requests: write")


def comment(marker: str, report: str) -> str:
    """Return the text of the comment, which is the marker, the report and a link to the run's page. A long report is cut."""
    run = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}".format_map(os.environ)
    link = f"[Charts and data]({run}) are in the artifact `{os.environ['NAME']}`."
    space = CHARACTERS_MAX - len(marker) - len(link) - 30
    if len(report) > space:
        report = report[:space].rpartition("\n")[0] + "\n\n…"
    return f"{marker}\n```text\n{report.rstrip()}\n```\n\n{link}\n"


def _untrusted_text(report: Path) -> str | None:
    """Return the printable text at the beginning of a regular file, or ``None`` if there is no such file."""
    try:
        with os.fdopen(os.open(report, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            content = file.read(BYTES_MAX) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None
    if content is None:
        return None
    text = content.decode(errors="replace").replace("```", "'''")  # which would end the code block
    return "".join(each if each == "\n" or each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def _is_own(found: dict[str, Any], marker: str) -> bool:
    return bool(found["user"]["login"] == AUTHOR and found["body"].startswith(marker))


def _comments(thread: str) -> Iterator[dict[str, Any]]:
    """Yield the comments on the pull request, oldest first."""
    page = 1
    while found := _request("GET", f"{thread}?per_page={PER_PAGE}&page={page}"):
        yield from found
        if len(found) < PER_PAGE:
            return
        page += 1


def _request(method: str, path: str, data: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(
        f"{os.environ['GITHUB_API_URL']}/{path}",
        method=method,
        data=None if data is None else json.dumps(data).encode(),
        headers={"Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json"},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
        return json.load(response)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

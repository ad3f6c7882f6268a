"""Test a server or proxy with h2spec, a program with conformance tests of HTTP/2.

Many servers that work well with every browser fail some of these tests. The result is therefore reported and recorded, but it isn't part of
the contract.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path

from httpbench.errors import HttpbenchError
from httpbench.isolate import Command, ProcessTree, tail
from httpbench.model import Conformance, Workload
from httpbench.run.trial.running import RunningTarget

PROGRAM = "h2spec"
H2SPEC_INSTALL = "go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"
TEST_TIMEOUT_S = 1
"""Time that h2spec waits for a reaction of the server, in seconds."""
LIMIT_S = 300.0
CASE = re.compile(r'<testcase package="([^"<]*)"((?:(?!<testcase).)*?)</testcase>', re.DOTALL)


def h2spec() -> str | None:
    """Return the path of h2spec in PATH or in Go's usual folder for programs, or ``None``."""
    go = os.environ.get("GOBIN") or Path(os.environ.get("GOPATH") or "~/go").expanduser() / "bin"
    return shutil.which(PROGRAM) or shutil.which(PROGRAM, path=str(go))


def conformance(program: str, running: RunningTarget, workload: Workload, folder: Path) -> Conformance:
    """Run h2spec on a server that speaks HTTP/2. Raise :class:`HttpbenchError` if it has no result. ``folder`` gets its files."""
    report, log = folder / "h2spec.xml", folder / "h2spec.log"
    where = ("--host", running.host, "--port", str(running.port), "--path", workload.request.path)
    tls = () if running.transport.trust is None else ("--tls", "--insecure")
    argv = (program, *where, *tls, "--timeout", str(TEST_TIMEOUT_S), "--junit-report", str(report))
    with ProcessTree([Command(argv, folder, {})], stdout=log, stderr=log) as tree:
        end = tree.wait(LIMIT_S)
    if end is None or not report.exists():
        raise HttpbenchError(f"h2spec has no result ({end or f'not finished within {LIMIT_S:g} s'})", log_tail=tail(log))
    return read_report(report)


def read_report(report: Path) -> Conformance:
    """Read a report of h2spec in JUnit's format. Skipped tests don't count.

    h2spec doesn't escape what servers send, so a report isn't always well-formed XML.
    """
    passed, failed = 0, Counter[str]()
    for package, text in CASE.findall(report.read_text(encoding="utf-8", errors="replace")):
        if "<error>" in text or "<failure>" in text:
            failed[package] += 1
        elif "<skipped>" not in text:
            passed += 1
    return Conformance(passed=passed, failed=dict(failed))

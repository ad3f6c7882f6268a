"""Tests of the last lines of a log."""

from __future__ import annotations

from pathlib import Path

from httpbench.isolate import tail


def test_separators_do_not_push_lines_out_of_the_tail(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("starting\nerror: no such file\n" + "\n".join(["-" * 40, "=====", "  ***", "~~~~"] * 10) + "\n}\n--flag\n")
    assert tail(log, 4) == "starting\nerror: no such file\n}\n--flag"

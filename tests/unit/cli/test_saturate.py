"""Tests of searches that ``httpbench saturate`` refuses before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from httpbench.cli.main import cli
from httpbench.errors import UsageError


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "no server given"),
        (("c",), "saturate takes one server; "),
        (("c/nginx", "--slo", "p99"), '"p99" is not a bound; write it as p99<5ms'),
        (("c/nginx", "--slo", "p98<5ms"), "with one of mean, p50"),
        (("c/nginx", "--overload", "2", "--slo", "ttfb<5ms"), "--overload can't be combined with a bound on the first byte"),
        (("c/nginx", "--width", "0.01%"), "is not between 0.2% and 50%"),
        (("c/nginx", "--url", "http://127.0.0.1:1/"), "each name a server"),
    ],
)
def test_invalid_options_are_refused_before_anything_runs(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    db = tmp_path / "httpbench.db"
    done = CliRunner().invoke(cli, ["saturate", *words, "--db", str(db)])
    assert done.exit_code == 2 or isinstance(done.exception, UsageError), done.output
    assert sentence in done.output + str(done.exception)
    assert not db.exists(), "nothing was measured"

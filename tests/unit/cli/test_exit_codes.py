"""Tests that each error has the right exit code."""

from __future__ import annotations

import pytest

from httpbench.cli.exit_codes import ExitCode, of_error
from httpbench.errors import CatalogError, HttpbenchError, RequirementError, SelectionError, UsageError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("wrong"), 2),
        (CatalogError(["wrong"]), 2),
        (SelectionError("wrong"), 2),
        (RequirementError("missing"), 1),
        (HttpbenchError("failed"), 1),
    ],
)
def test_usage_errors_and_failures_have_different_exit_codes(error: HttpbenchError, code: int) -> None:
    assert of_error(error) == code


def test_exit_codes_are_unique_and_documented() -> None:
    assert [code.value for code in ExitCode] == [0, 1, 2, 3, 130]
    assert all(code.meaning for code in ExitCode)

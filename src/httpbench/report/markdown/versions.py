"""Versions of toolchains and libraries as a Markdown table."""

from __future__ import annotations

from collections.abc import Mapping

from httpbench.report.markdown.run import pipe_table


def render_versions(versions: Mapping[str, str]) -> str:
    """``versions``: name → version, as in a run's environment. By name; of a version that takes several lines, the first."""
    rows = [(name, (version.strip().splitlines() or [""])[0]) for name, version in sorted(versions.items())]
    return "\n".join(pipe_table(("Name", "Version"), (False, False), rows))

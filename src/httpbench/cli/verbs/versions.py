"""``httpbench versions``: print the versions of toolchains and of libraries in targets."""

from __future__ import annotations

from httpbench.cli.options.fields import command
from httpbench.cli.options.shared import Selection
from httpbench.cli.terminal import console


@command(Selection)
def versions(selection: Selection) -> None:
    """Print the versions of toolchains and of built libraries.

    The output is a Markdown table. Default: all targets.

    \b
    httpbench versions rust golang   what the targets in two languages use
    """
    from httpbench.report.markdown.targets import render_versions
    from httpbench.run import states, toolchains

    targets = selection.of(selection.catalog())
    libraries = {target.id: state.version for target, state in zip(targets, states(targets), strict=True) if state.version}
    console.echo(render_versions({**toolchains(targets), **libraries}))

"""``httpbench versions``: of the toolchains and libraries that rows use."""

from __future__ import annotations

import click

from httpbench.cli.options import Selection, selection


@click.command()
@selection
def versions(selection: Selection) -> None:
    """Print the versions of toolchains here, and of the libraries that built rows use, as a Markdown table.

    \b
    httpbench versions rust golang   those that the rows of two languages use
    """
    from httpbench.report import render_versions
    from httpbench.run import states, toolchains

    targets = selection.of(selection.catalog())
    libraries = {target.id: state.version for target, state in zip(targets, states(targets), strict=True) if state.version}
    click.echo(render_versions({**toolchains(targets), **libraries}))

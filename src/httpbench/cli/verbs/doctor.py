"""``httpbench doctor``: the environment, and what will disturb a measurement."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from httpbench.cli.options.fields import Options, command, option
from httpbench.cli.options.output import json_option
from httpbench.cli.terminal import console
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from httpbench.host import Finding
    from httpbench.model import Environment

SHOWN_FIRST = 2
STYLES = {"ok": "green", "note": "cyan", "warning": "yellow"}


class DoctorOptions(Options):
    load_host: str | None = option(
        "-r", "--load-host", "--remote", metavar="[USER@]HOST", help="Also examine this load host, and the network between the two."
    )
    host: str | None = option(
        "--host",
        metavar="ADDRESS",
        default_text="source address of the route to the load host",
        help="With --load-host: address of this machine that targets listen on.",
    )
    json: bool = json_option()


@command(DoctorOptions)
def doctor(options: DoctorOptions) -> None:
    """Show the environment, and what will disturb a measurement.

    \b
    httpbench doctor                all findings, the most harmful first
    httpbench doctor --json         JSON
    httpbench doctor -r user@host   both hosts, and the network between them
    """
    from httpbench import catalog, host
    from httpbench.run import left_behind

    if options.host and not options.load_host:
        raise UsageError("--host requires a load host", hint="add -r HOST")
    environment = host.read_environment(catalog.root(), {})
    findings = [*left_behind(), *host.examine()]
    there, of_both = None, []
    if options.load_host is not None:
        from httpbench.cluster import connected, findings_of

        with connected(options.load_host, address=options.host) as place:
            there, of_both = place.host, findings_of(place)
    if options.json:
        entries = [dataclasses.asdict(finding) for finding in (*findings, *of_both)]
        more = {"load_host": there.model_dump()} if there else {}
        console.echo_json({"environment": environment.model_dump(), "findings": entries, **more})
        return
    _show(environment, findings)
    if there is not None:
        console.echo(f"\nload host {there.name}, which reaches this machine at {there.address}\n")
        _show(there.environment, of_both)


def _show(environment: Environment, findings: Sequence[Finding]) -> None:
    """Print the findings that matter most, then the others, then the environment."""
    from httpbench import host

    first = host.most_harmful(findings, SHOWN_FIRST)
    console.echo("Fix first:" if first else "Nothing makes results on this machine noisy or wrong.")
    for finding in first:
        _show_finding(finding)
    console.echo("\nOther findings:")
    for finding in findings:
        if finding not in first:
            _show_finding(finding)
    console.echo("\nEnvironment:")
    for name, value in environment.model_dump(exclude={"versions", "mitigations"}).items():
        console.echo(f"{name:22} {_text(value)}")


def _show_finding(finding: Finding) -> None:
    from rich.text import Text

    line = Text.assemble((f"{finding.severity:8}", STYLES[finding.severity]), f"{finding.name}: {finding.what}")
    console.stdout().print(line, soft_wrap=True)
    if finding.severity != "ok":
        console.echo(f"{'':8}why: {finding.why}")
        if finding.do:
            console.echo(f"{'':8}fix: {finding.do}")


def _text(value: object) -> str:
    """Format a value of the environment. A missing value is shown as ``-``."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {setting}" for name, setting in value.items()) or "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return "-" if value in (None, "") else str(value)

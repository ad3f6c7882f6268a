"""``httpbench doctor``: the environment, and what on this machine will disturb a measurement."""

from __future__ import annotations

import dataclasses
import json

import click

from httpbench.cli import console

STYLES = {"ok": "green", "note": "cyan", "warning": "yellow"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor(as_json: bool) -> None:
    """Show the environment, and what on this machine will disturb a measurement, with what to do about it.

    \b
    httpbench doctor          for people
    httpbench doctor --json   for programs
    """
    from rich.text import Text

    from httpbench import catalog, host

    environment = host.read_environment(catalog.root(), {})
    findings = host.examine()
    if as_json:
        entries = [dataclasses.asdict(finding) for finding in findings]
        click.echo(json.dumps({"environment": environment.model_dump(), "findings": entries}, indent=2, ensure_ascii=False))
        return
    output = console.stdout()
    for name, value in environment.model_dump(exclude={"versions", "mitigations"}).items():
        output.print(f"{name:22} {'' if value is None else value}", markup=False, soft_wrap=True)
    output.print()
    for finding in findings:
        output.print(Text.assemble((f"{finding.severity:8}", STYLES[finding.severity]), f"{finding.name}: {finding.what}"), soft_wrap=True)
        if finding.severity != "ok":
            output.print(f"{'':8}why: {finding.why}", markup=False, soft_wrap=True)
            if finding.do:
                output.print(f"{'':8}do:  {finding.do}", markup=False, soft_wrap=True)

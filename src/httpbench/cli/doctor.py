"""``httpbench doctor``: the environment, and what on this machine will disturb a measurement."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from httpbench.cli import console
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.fields import command
from httpbench.cli.options import json_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from httpbench.host import Finding
    from httpbench.model import Environment

STYLES = {"ok": "green", "note": "cyan", "warning": "yellow"}


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    json: bool = json_option()


@command(DoctorOptions)
def doctor(options: DoctorOptions) -> ExitCode:
    """Show the environment, and what will disturb a measurement.

    \b
    httpbench doctor          a report, with the fix for each finding
    httpbench doctor --json   JSON
    """
    from httpbench import catalog, host
    from httpbench.run import left_behind

    environment = host.read_environment(catalog.root(), {})
    findings = [*left_behind(), *host.examine()]
    if options.json:
        entries = [dataclasses.asdict(finding) for finding in findings]
        console.echo_json({"environment": environment.model_dump(), "findings": entries})
    else:
        _show(environment, findings)
    return ExitCode.OK


def _show(environment: Environment, findings: Sequence[Finding]) -> None:
    from rich.text import Text

    output = console.stdout()
    for name, value in environment.model_dump(exclude={"versions", "mitigations"}).items():
        output.print(f"{name:22} {_text(value)}", markup=False, soft_wrap=True)
    output.print()
    for finding in findings:
        output.print(Text.assemble((f"{finding.severity:8}", STYLES[finding.severity]), f"{finding.name}: {finding.what}"), soft_wrap=True)
        if finding.severity != "ok":
            output.print(f"{'':8}why: {finding.why}", markup=False, soft_wrap=True)
            if finding.do:
                output.print(f"{'':8}fix: {finding.do}", markup=False, soft_wrap=True)


def _text(value: object) -> str:
    """A value of the environment as a reader writes it; ``-``: none."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {setting}" for name, setting in value.items()) or "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return "-" if value in (None, "") else str(value)

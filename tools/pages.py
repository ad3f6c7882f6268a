"""Generated pages of the docs.

``docs/cli.md`` comes from the definition of the command line, ``targets/README.md`` from the targets' manifests, and
``docs/ambiguous-requests.md`` from ``targets/verified.toml``.

``python -m tools.pages`` writes the pages, and a test fails if they are outdated. The states of the targets depend on the machine. They are
at the end of the targets' page, below ``STATES``, and the test doesn't compare that part.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import click

from httpbench import catalog, host
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.main import cli
from httpbench.cli.options import foreign as foreign_options
from httpbench.contract.ambiguous import REQUESTS
from httpbench.report.markdown.parts import pipe_table
from httpbench.report.markdown.targets import render_ambiguous, render_targets
from httpbench.run import TargetState, sources_of, states

STATES = "## State on one machine"
COMMON_MIN = 3
"""Minimum number of verbs that must share an option before the page describes it only once."""

CLI_INTRO = """\
# Command line

This page lists every verb and option. `httpbench VERB --help` prints the same text.

- `TARGET` is an id (`c/epoll/level`), a part of one (`epoll`, `golang`) or a category (`micro`, `platform`, `fullstack`).
- `DURATION` looks like `500ms`, `10s` or `2m`, `COUNT` like `64`, `10k` or `1M`, `PERCENT` like `2%`.
- Data goes to standard output, everything else to standard error. Set `NO_COLOR` to turn off color.

## Exit codes

"""

COMPLETION = """\
## Completion

`httpbench completion` installs tab completion of verbs, options and targets for bash, zsh or fish.
"""

TARGETS_INTRO = """\
# Targets

This page lists the built-in targets. Each has a link to its upstream, and:

- its category: `micro` (an event loop that responds), `platform` (parser, router and response writer) or `fullstack`
- for a proxy, its mode: `tcp` (relays bytes) or `http` (relays requests and responses)
- its tuning: `default` (as in its documentation), `tuned` (the documented production settings) or `engine` (below the public API of the
  framework)
- its scaling: `single` (one core), `multi` (all cores by itself) or `prefork` (one copy per core)
- its limits: features it lacks by design, as checked by `httpbench verify`
- its proof: date, system and toolchain of its last successful `httpbench verify`, from [verified.toml](verified.toml). *Never built* means
  that the target was written without its toolchain. *Before its sources changed* means that the current sources have not been verified.
"""

AMBIGUOUS_INTRO = """\
# Ambiguous requests

This page shows what each HTTP proxy does with requests that two HTTP programs may read differently.

If a proxy and its backend disagree about where a request ends, an attacker can hide a second request inside the first. This is called
request smuggling ([RFC 9112, section 11.2](https://www.rfc-editor.org/rfc/rfc9112#section-11.2)). `httpbench verify proxy:c/nginx` sends
each request below to the proxy as raw bytes, and compares them with the bytes that arrive at the backend:

- *rejected*: the backend gets no complete request
- *normalized*: the backend gets a request that has only one meaning, which isn't always the one that the RFC defines
- *forwarded*: the backend gets a request that is still ambiguous, so its safety depends on the backend

The outcomes aren't part of the [contract of HTTP proxies](clients-and-proxies.md#http-proxies), because safe backends exist. They apply to
plain HTTP/1.1, and to the configurations in [`targets/proxies`](../targets/README.md). `httpbench verify --record` stores them in
[`targets/verified.toml`](../targets/verified.toml), and `python -m tools.pages docs` generates this page from that file.

"""

COMMON = """\
## Common options

Several verbs have these options. The section of each verb names the ones it has.

"""

FOREIGN = """\
## Options of other tools

If you use another tool's option and the verb lacks it, the error names the equivalent:

"""


def cli_page() -> str:
    """Return a page with every verb, argument and option."""
    root = click.Context(cli, info_name="httpbench")
    codes = pipe_table(("Code", "Meaning"), (True, False), [(str(code.value), code.meaning) for code in ExitCode])
    foreign = [f"- `{name}`: {hint}\n" for name, (_, hint) in foreign_options.OURS.items()]
    commands = {name: cli.load(name) for name in cli.commands}
    contexts = [click.Context(command, info_name=name, parent=root) for name, command in commands.items()]
    counts = Counter(record for context in contexts for record in _options(context))
    common = {record for record, count in counts.items() if count >= COMMON_MIN}
    shared = [_item(record) + "\n" for record in counts if record in common]
    lines = [CLI_INTRO + "\n".join(codes) + "\n", COMPLETION, FOREIGN + "".join(foreign), COMMON + "".join(shared)]
    for context in contexts:
        lines += _verb(context, common)
    return "\n".join(lines).rstrip() + "\n"


def targets_page() -> str:
    """Return the page of all targets, without their states on this machine."""
    targets = catalog.load().targets
    sources = {name: sources_of(target) for name, target in targets.items()}
    return f"{TARGETS_INTRO}\n{render_targets(targets.values(), catalog.read_proofs(), sources)}"


def states_section() -> str:
    """Return a table with the state and version of every target on this machine."""
    targets = sorted(catalog.load().targets.values(), key=lambda target: target.id)
    lines = [(target.id, _state(state), state.version or "") for target, state in zip(targets, states(targets), strict=True)]
    where = host.read_environment(catalog.root(), {}).os
    table = "\n".join(pipe_table(("Target", "State", "Version"), (False, False, False), lines))
    return f"{STATES}\n\nOn the machine that generated this page ({where}). `httpbench list` shows the state on yours.\n\n{table}\n"


def ambiguous_page() -> str:
    """Return the page with the outcomes of all ambiguous requests."""
    return AMBIGUOUS_INTRO + render_ambiguous(REQUESTS, catalog.read_proofs())


def write(root: Path) -> None:
    """Write all pages below the root of the repository."""
    (root / "docs/ambiguous-requests.md").write_text(ambiguous_page(), encoding="utf-8")
    (root / "docs/cli.md").write_text(cli_page(), encoding="utf-8")
    (root / "targets/README.md").write_text(f"{targets_page()}\n{states_section()}", encoding="utf-8")


def _options(context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the names and the help text of each visible option."""
    for parameter in context.command.get_params(context):
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts and (record := parameter.get_help_record(context)):
            yield record[0], " ".join(record[1].split())


def _item(record: tuple[str, str]) -> str:
    return f"- `{record[0]}`: {record[1]}"


def _verb(context: click.Context, common: Collection[tuple[str, str]]) -> Iterator[str]:
    """Yield the section of a verb. Common options are listed by name only."""
    command = context.command
    yield f"## `{' '.join([context.command_path, *command.collect_usage_pieces(context)])}`"
    yield ""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    for paragraph in paragraphs:
        kept = paragraph.removeprefix("\b\n")  # click uses this to mark lines that must not be wrapped
        yield f"{' '.join(paragraph.split())}\n" if kept == paragraph else f"```\n{kept}\n```\n"
    options = list(_options(context))
    yield from (_item(record) for record in options if record not in common)
    if shared := [record[0] for record in options if record in common]:
        names = ", ".join(f"`{next(word for word in names.replace(',', ' ').split() if word.startswith('--'))}`" for names in shared)
        yield f"- Common options: {names}"
    yield ""


def _state(state: TargetState) -> str:
    return f"{state.state} {state.reason}" if state.reason else str(state.state)


if __name__ == "__main__":
    write(catalog.root())

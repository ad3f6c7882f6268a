"""``httpbench`` without a verb: a summary of this machine and of useful commands, in ten lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from httpbench import __version__
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.terminal import console

if TYPE_CHECKING:
    from httpbench.model import Kind, Target
    from httpbench.run import State

COMMAND_CHARACTERS = 48


def welcome() -> ExitCode:
    """Print the summary, without starting or building anything."""
    from httpbench import catalog, host, load
    from httpbench.run import State, cache_folder, states

    targets = sorted(catalog.load().targets.values(), key=lambda target: target.id)
    with host.remembering(cache_folder() / "versions.json"):
        found = [state.state for state in states(targets)]
    ready = [target for target, state in zip(targets, found, strict=True) if state in (State.READY, State.BUILT)]
    generators = [name for name in load.GENERATORS if load.get(name).locate()]
    lines = [
        f"httpbench {__version__}: hyperfine for network services",
        f"Ready on this machine: {_ready(ready)}",
        f"Load generators: {', '.join(generators) or 'none'}",
        _rest(found),
        "",
        *(f"  {words:<{COMMAND_CHARACTERS}}  {meaning}" for words, meaning in _next(_servers(ready))),
    ]
    console.echo("\n".join(lines))
    return ExitCode.OK


def _ready(targets: Sequence[Target]) -> str:
    """Format the targets that are ready: ``12 servers, 1 client``, or ``no target``."""
    from httpbench.model import Kind

    counts = {kind: sum(target.kind is kind for target in targets) for kind in Kind}
    return ", ".join(_count(count, kind) for kind, count in counts.items() if count) or "no target"


def _count(count: int, kind: Kind) -> str:
    return f"{count} {kind if count == 1 else kind.plural}"


def _rest(found: Sequence[State]) -> str:
    """Format the numbers of targets that are not ready, by reason."""
    from httpbench.run import State

    counts = {state: found.count(state) for state in (State.NOT_BUILT, State.MISSING, State.BROKEN)}
    words = {State.NOT_BUILT: "are built before their first trial", State.MISSING: "require software", State.BROKEN: "failed to build"}
    parts = [f"{count} {words[state]}" for state, count in counts.items() if count]
    return f"Not ready: {', '.join(parts) or 'none'}"


def _servers(ready: Sequence[Target]) -> list[str]:
    """Return the ids of two servers that are ready, in different languages if possible."""
    from httpbench.model import Kind

    servers = [target for target in ready if target.kind is Kind.SERVER]
    by_language = {target.language: target.id for target in reversed(servers)}
    return [*dict.fromkeys([*sorted(by_language.values()), *(target.id for target in servers)])][:2]


def _next(servers: Sequence[str]) -> list[tuple[str, str]]:
    """Return useful commands and their purpose, with targets that are ready."""
    compare = f"httpbench bench {' '.join(servers)}" if len(servers) == 2 else "httpbench bench --suite quick --skip-missing"
    return [
        ("httpbench run './old {port}' './new {port}'", "compare servers of your own"),
        (compare, "compare built-in servers"),
        (f"httpbench saturate {servers[0] if servers else 'c/nginx'} --slo 'p99<5ms'", "find the highest rate"),
        ("httpbench list", "list targets and their state"),
        ("httpbench --help", "list all verbs"),
    ]

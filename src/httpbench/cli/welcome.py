"""``httpbench`` without a verb: a summary of this machine, the next step, and other useful commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from httpbench import __version__
from httpbench.cli.terminal import console
from httpbench.paths import default_database

if TYPE_CHECKING:
    from httpbench.model import Target

COMMAND_CHARACTERS = 48


def welcome() -> None:
    """Print the summary, without starting or building anything."""
    from httpbench import catalog, host, load
    from httpbench.model import Kind
    from httpbench.run import State, cache_folder, states

    targets = sorted(catalog.load().targets.values(), key=lambda target: target.id)
    with host.remembering(cache_folder() / "versions.json"):
        found = [state.state for state in states(targets)]
    ready = [target for target, state in zip(targets, found, strict=True) if state in (State.READY, State.BUILT)]
    kinds = [target.kind for target in ready]
    numbers = [f"{count} {kind if count == 1 else kind.plural}" for kind in Kind if (count := kinds.count(kind))]
    words = {State.NOT_BUILT: "are built before their first trial", State.MISSING: "require software", State.BROKEN: "failed to build"}
    lines = [
        f"httpbench {__version__}: hyperfine for network services",
        f"Ready on this machine: {', '.join(numbers) or 'no target'}",
        f"Load generators: {', '.join(name for name in load.GENERATORS if load.get(name).locate()) or 'none'}",
        f"Not ready: {', '.join(f'{found.count(state)} {text}' for state, text in words.items() if state in found) or 'none'}",
        "",
        "Next step:",
        _line(*_next_step(_servers(ready), has_runs=default_database().exists())),
        "",
        "Other commands:",
        *(_line(*each) for each in _commands(_servers(ready))),
    ]
    console.echo("\n".join(lines))


def _servers(ready: Sequence[Target]) -> list[str]:
    """Return the ids of two servers that are ready, in different languages if possible."""
    from httpbench.model import Kind

    servers = [target for target in ready if target.kind is Kind.SERVER]
    by_language = {target.language: target.id for target in reversed(servers)}
    return [*dict.fromkeys([*sorted(by_language.values()), *(target.id for target in servers)])][:2]


def _line(command: str, purpose: str) -> str:
    return f"  {command:<{COMMAND_CHARACTERS}}  {purpose}"


def _next_step(servers: Sequence[str], *, has_runs: bool) -> tuple[str, str]:
    """Return the command that is most useful now, with its purpose: see results, else measure, else install something to measure."""
    if has_runs:
        return "httpbench report", "show your last run again"
    if len(servers) == 2:
        return f"httpbench bench {' '.join(servers)}", "compare two servers"
    return "httpbench setup c/nginx c/epoll", "install two servers to try"


def _commands(servers: Sequence[str]) -> list[tuple[str, str]]:
    """Return useful commands with their purposes. The commands use targets that are ready, if there are enough of them."""
    compare = f"httpbench bench {' '.join(servers)}" if len(servers) == 2 else "httpbench bench --suite quick --skip-missing"
    return [
        ("httpbench run './old {port}' './new {port}'", "compare servers of your own"),
        (compare, "compare built-in servers"),
        (f"httpbench saturate {servers[0] if servers else 'c/nginx'} --slo 'p99<5ms'", "find the highest rate"),
        ("httpbench doctor", "find what disturbs results"),
        ("httpbench list", "list targets and their state"),
        ("httpbench --help", "list all verbs"),
    ]

"""Which targets ``make test`` builds and verifies: those in ``first.txt``, of each kind and of a few languages, which build in a minute.

Each has its first scaling there. All others are marked ``slow`` and left to ``make test-all``: their toolchains and builds take most of
its time.
"""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from httpbench.model import Scaling, Target
from httpbench.run import State, state_of
from httpbench.run.builds.build import build

FIRST = tuple((Path(__file__).parent / "first.txt").read_text(encoding="utf-8").split())

CLIENTS = """
c/curl zig/http-client rust/attohttpc rust/hyper rust/reqwest rust/ureq golang/http-client python/requests python/http-client
cpp/asio dlang/std-net-curl dlang/requests dlang/vibe-http dlang/arsd-http2
"""

# Their libraries come from registries that a machine which only tests need not reach.
FOREIGN_REGISTRY = {"dlang": "dub's registry", "elixir": "hex", "nim": "nimble's registry", "dotnet": "NuGet", "dart": "pub.dev"}

NO_LIBRARY = ("epoll", "std-net-curl")
"""Of these languages, what needs nothing beside the compiler."""


def case(target: Target, *scaling: Scaling) -> pytest.ParameterSet:
    """A target, and its scaling if that matters, as parameters of a test."""
    is_first = target.id in FIRST and scaling in ((), target.scaling[:1])
    marks = () if is_first else pytest.mark.slow
    return pytest.param(target, *scaling, id="-".join((target.id, *scaling)), marks=marks)


def built(target: Target) -> Path:
    """Its build; a reason to skip where it cannot be had on this machine."""
    state = state_of(target)
    if target.language in FOREIGN_REGISTRY and target.framework not in NO_LIBRARY and state.state is not State.BUILT:
        pytest.skip(f"its library comes from {FOREIGN_REGISTRY[target.language]}; {state.fix}")
    assert state.state is not State.MISSING, f"requires {state.reason}; make test-all installs it: {state.fix}"
    return build(target, Event()).folder

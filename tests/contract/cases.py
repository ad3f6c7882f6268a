"""Make test parameters for targets, and choose the targets that ``make test`` builds and verifies.

``make test`` verifies the targets in ``first.txt`` with their first scaling. These targets cover every kind and take a minute to build.
All other cases are marked ``slow`` and run only with ``make test-all``, because installing toolchains and building takes a long time.
"""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from httpbench.model import Scaling, Target
from httpbench.run import State
from httpbench.run.builds.build import build
from httpbench.run.builds.states import state_of

FIRST = tuple((Path(__file__).parent / "first.txt").read_text(encoding="utf-8").split())

CLIENTS = """
c/curl zig/http-client rust/attohttpc rust/hyper rust/reqwest rust/ureq golang/http-client python/requests python/http-client
cpp/asio dlang/std-net-curl dlang/requests dlang/vibe-http dlang/arsd-http2
"""

# Languages whose libraries come from registries that a test machine may be unable to reach.
FOREIGN_REGISTRY = {"dlang": "dub's registry", "elixir": "hex", "nim": "nimble's registry", "dotnet": "NuGet", "dart": "pub.dev"}

NO_LIBRARY = ("epoll", "std-net-curl")
"""Frameworks of the languages in ``FOREIGN_REGISTRY`` that need only the compiler."""


def case(target: Target, *scaling: Scaling) -> pytest.ParameterSet:
    """Return a test parameter for a target and, if given, its scaling."""
    is_first = target.id in FIRST and scaling in ((), target.scaling[:1])
    marks = () if is_first else pytest.mark.slow
    return pytest.param(target, *scaling, id="-".join((target.id, *scaling)), marks=marks)


def built(target: Target) -> Path:
    """Build the target and return the build's folder. Skip the test if this machine may be unable to download the target's library."""
    state = state_of(target)
    if target.language in FOREIGN_REGISTRY and target.framework not in NO_LIBRARY and state.state is not State.BUILT:
        pytest.skip(f"its library comes from {FOREIGN_REGISTRY[target.language]}; {state.fix}")
    assert state.state is not State.MISSING, f"requires {state.reason}; make test-all installs it: {state.fix}"
    return build(target, Event()).folder

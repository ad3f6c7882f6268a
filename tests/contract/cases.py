"""Make test parameters for targets, and choose the targets that ``make test`` builds and verifies.

``make test`` verifies the targets in ``first.txt`` with their first scaling. These targets cover every kind and take a minute to build.
All other cases are marked ``slow`` and run only with ``make test-all``, because installing toolchains and building takes a long time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from threading import Event

import pytest

from httpbench.model import Scaling, Target
from httpbench.run import State
from httpbench.run.builds.build import build
from httpbench.run.builds.states import state_of
from tests.contract.chosen import FIRST, obstacle_of

CLIENTS = """
c/curl zig/http-client rust/attohttpc rust/hyper rust/reqwest rust/ureq golang/http-client python/requests python/http-client
cpp/asio dlang/std-net-curl dlang/requests dlang/vibe-http dlang/arsd-http2
"""

VERIFY = os.environ.get("VERIFY")
"""Ids of the targets whose slow cases run, separated by spaces. Not set: all."""


def case(target: Target, *scaling: Scaling) -> pytest.ParameterSet:
    """Return a test parameter for a target and, if given, its scaling."""
    is_first = target.id in FIRST and scaling in ((), target.scaling[:1])
    marks = () if is_first else pytest.mark.slow
    return pytest.param(target, *scaling, id="-".join((target.id, *scaling)), marks=marks)


def cases(targets: Iterable[Target]) -> list[pytest.ParameterSet]:
    """Return a test parameter for each target to verify and each of its scalings."""
    return [case(target, scaling) for target in targets if is_verified(target) for scaling in target.scaling]


def is_verified(target: Target) -> bool:
    """Return whether this test run verifies the target."""
    return VERIFY is None or target.id in (*FIRST, *VERIFY.split())


def built(target: Target) -> Path:
    """Build the target and return the build's folder. Skip the test if test runs don't build the target and nobody else did."""
    state = state_of(target)
    if obstacle := obstacle_of(target):
        pytest.skip(f"{obstacle}; {state.fix}")
    assert state.state is not State.MISSING, f"requires {state.reason}; make test-all installs it: {state.fix}"
    return build(target, Event()).folder

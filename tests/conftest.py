"""Fixtures that several kinds of tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import containers
from tests.harness import Harness

# A busy machine is slow at times: no example fails for that.
settings.register_profile("httpbench", deadline=None)
settings.load_profile("httpbench")

# nohup ignores SIGHUP, and a shell ignores SIGINT for what runs in the background; programs that tests start would inherit that.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[str]:
    """``docker``, with a daemon that responds; the test is skipped where there is none and none can be started."""
    with containers.engine() as name:
        yield name


@pytest.fixture(scope="session")
def debian_base(docker_engine: str) -> str:
    """The name of a minimal Debian image, for ``ARG BASE``; the test is skipped where it cannot be made."""
    return containers.base(docker_engine)

"""Fixtures shared by several kinds of tests."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import containers
from tests.harness import Harness

gc.set_threshold(50_000)  # as in httpbench itself

# A Hypothesis example must not fail just because the machine is busy.
settings.register_profile("httpbench", deadline=None)
settings.load_profile("httpbench")

# If pytest was started by nohup or as a background job of a shell, it ignores SIGHUP or SIGINT. Programs that tests start would
# inherit this, so stop ignoring these signals.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[str]:
    """Yield ``docker`` once a daemon responds. Skip the test if none runs and none can be started."""
    with containers.engine() as name:
        yield name


@pytest.fixture(scope="session")
def debian_base(docker_engine: str) -> str:
    """Return the name of a minimal Debian image for ``ARG BASE``. Skip the test if the image can't be made."""
    return containers.base(docker_engine)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With ``--dist loadgroup``, let one process run all tests with containers, because some compare the state of the whole engine."""
    for item in items:
        if item.get_closest_marker("container"):
            item.add_marker(pytest.mark.xdist_group("container"))

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from httpbench.isolate.ssh import SshConnection
from tests.fake_ssh import fake_ssh


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshConnection]:
    """An open connection to a load host that is this machine, without a network."""
    monkeypatch.setenv("HTTPBENCH_SSH", fake_ssh(tmp_path))
    with SshConnection("load1") as connection:
        connection.open()
        yield connection

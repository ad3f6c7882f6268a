"""The JSON of ``httpbench list``."""

from __future__ import annotations

import json

from click.testing import CliRunner

from httpbench.cli.main import cli

KEYS = "id kind language framework variant category tuning scaling limits upstream notes state reason fix version unchecked"


def test_each_target_has_its_state_and_its_fix() -> None:
    done = CliRunner().invoke(cli, ["list", "--json", "c/epoll"])
    found = json.loads(done.output)
    assert [target["id"] for target in found] == ["c/epoll/level", "c/epoll/edge"]
    assert all(list(target) == KEYS.split() for target in found)

"""Tests of the names of load hosts, which come from the command line or from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.cluster.dask.by_ssh import SshHosts, read_hosts
from httpbench.errors import UsageError


def test_load_hosts_can_be_given_by_name() -> None:
    assert read_hosts(("load1", "user@load2")) == SshHosts(hosts=("load1", "user@load2"))


def test_a_file_may_set_python_and_an_ssh_configuration(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text('hosts = ["load1"]\npython = "/opt/bin/python"\nssh_config = "~/lab"\n')
    assert read_hosts([str(file)]) == SshHosts(hosts=("load1",), python="/opt/bin/python", ssh_config="~/lab")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hosts = []", "are invalid: hosts: "),
        ('hosts = ["a"]\nport = 1', "are invalid: port: "),
        ('hosts = ["a", "b", "a"]', "load host a is listed twice"),
        ("hosts = [", "cannot read the load hosts in "),
    ],
)
def test_an_invalid_file_gives_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_hosts([str(file)])
    assert sentence in caught.value.message


def test_a_missing_file_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"cannot read the load hosts in /nosuch/hosts\.toml: "):
        read_hosts(["/nosuch/hosts.toml"])


def test_a_file_cannot_be_combined_with_a_name() -> None:
    with pytest.raises(UsageError, match=r"hosts\.toml lists load hosts, so no other names can be given"):
        read_hosts(["load1", "hosts.toml"])

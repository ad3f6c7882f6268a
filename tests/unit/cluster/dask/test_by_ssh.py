"""Names of load hosts come from the command line or from a file, and what is wrong with them is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.cli.options.scheduler import SchedulerOptions
from httpbench.cluster.dask.by_ssh import SshHosts, connections, read_hosts
from httpbench.errors import UsageError


def test_names_are_separated_by_commas() -> None:
    assert read_hosts("load1,user@load2,") == SshHosts(hosts=("load1", "user@load2"))


def test_a_file_may_name_python_and_a_configuration(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text('hosts = ["load1"]\npython = "/opt/bin/python"\nssh_config = "~/lab"\n')
    assert read_hosts(str(file)) == SshHosts(hosts=("load1",), python="/opt/bin/python", ssh_config="~/lab")


def test_a_user_may_be_named() -> None:
    names, options = connections(SshHosts(hosts=("load1", "me@load2"), ssh_config="/lab"))
    assert names == ["load1", "load2"]
    assert options == [{"config": ["/lab"]}, {"config": ["/lab"], "username": "me"}]
    assert connections(SshHosts(hosts=("load1",))) == (["load1"], [{}])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hosts = []", "are wrong: hosts: "),
        ('hosts = ["a"]\nport = 1', "are wrong: port: "),
        ("hosts = [", "cannot be read: "),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_hosts(str(file))
    assert sentence in caught.value.message and str(file) in caught.value.message


def test_a_missing_file_and_no_name_are_named() -> None:
    with pytest.raises(UsageError, match="cannot be read: "):
        read_hosts("/nosuch/hosts.toml")
    with pytest.raises(UsageError, match="are wrong: hosts: "):
        read_hosts(",")


def test_two_places_of_load_hosts_are_refused() -> None:
    with (
        pytest.raises(UsageError, match="--scheduler and --load-hosts both say where the load comes from"),
        SchedulerOptions("a", "b").started(None),
    ):
        pass

"""Tests of the load source's options: one load host, several, or a scheduler. Contradictions are reported before connecting."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from httpbench.cli.main import run_command_line
from httpbench.cli.options.load_source import DaskSource, LoadSource, LoadSourceOptions, SshSource
from httpbench.cluster.dask import ManyHosts, Scheduler, Workers, by_ssh, survey
from httpbench.cluster.dask.by_ssh import SshHosts
from httpbench.cluster.dask.orders import HostFacts
from httpbench.cluster.dask.survey import Surveyed
from httpbench.errors import UsageError
from httpbench.host import Core, Topology, partition
from httpbench.load import get
from httpbench.model import Engine, Isolation, Kind, NetworkMode, Scaling, Target
from tests.factories import make_target

SCHEDULER = "tcp://127.0.0.1:8786"
NONE = LoadSourceOptions((), None, None, None, None, None, False, None, False)
MANY = replace(NONE, scheduler=SCHEDULER)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Simulate clusters of load hosts on this machine, and return the names of the load hosts in each."""
    found: list[tuple[str, ...]] = []

    @contextmanager
    def start(hosts: SshHosts) -> Iterator[Scheduler]:
        found.append(hosts.hosts)
        yield Scheduler("tls://127.0.0.1:40000")

    def look(_scheduler: Scheduler, **_options: bool) -> list[Surveyed]:
        return [Surveyed(name, "tcp://127.0.0.1:1", HostFacts(name, 2, "1", "1"), 0.1, None) for name in ("load1", "load2")]

    monkeypatch.setattr(by_ssh, "started", start)
    monkeypatch.setattr(survey, "survey", look)
    return found


def error(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setenv("HTTPBENCH_SSH", "false")
    monkeypatch.setattr(sys, "argv", ["httpbench", *words])
    with pytest.raises(SystemExit) as ended:
        run_command_line()
    assert ended.value.code == 2
    return capfd.readouterr().err.splitlines()[0]


def opened(options: LoadSourceOptions, *targets: Target, generators: tuple[str, ...] = ("native",)) -> LoadSource:
    with options.opened(targets or [make_target()], generators) as source:
        return source


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bench", "c/nginx", "--host", "192.0.2.1"), "--host requires a load host"),
        (("saturate", "c/nginx", "--install"), "--install requires exactly one load host"),
        (("bench", "c/nginx", "-r", "a", "-r", "b", "--install"), "--install requires exactly one load host"),
        (("bench", "proxy:c/haproxy", "--backend-host", "load"), "--backend-host load requires exactly one load host"),
        (("bench", "c/nginx", "-r", "load1", "--backend-host", "load"), "servers have no backend"),
        (("bench", "c/nginx", "-r", "load1", "--scheduler", SCHEDULER), "--load-host and --scheduler both choose the load source"),
        (
            ("bench", "c/nginx", "--scheduler", "tcp://192.0.2.1:8786"),
            "the Dask cluster at tcp://192.0.2.1:8786 is not protected by TLS, so anyone who reaches it can run code on all its hosts",
        ),
        (
            ("bench", "c/nginx", "--scheduler", "192.0.2.1:8786"),
            "the Dask cluster at 192.0.2.1:8786 is not protected by TLS, so anyone who reaches it can run code on all its hosts",
        ),
        (("bench", "c/nginx", "--scheduler", SCHEDULER, "--dask-ca", "ca.pem"), "--dask-ca and --dask-cert are required together"),
        (
            ("bench", "c/nginx", "--scheduler", SCHEDULER, "--dask-ca", "/no", "--dask-cert", "/no"),
            "cannot read /no: No such file or directory",
        ),
        (
            ("bench", "c/nginx", "-r", "load1", "--dask-insecure"),
            "--dask-ca, --dask-cert, --dask-key and --dask-insecure require --scheduler",
        ),
        (("doctor", "--host", "192.0.2.1"), "--host requires a load host"),
        (("hosts", "check"), "no load host given"),
        (("bench", "client:c/curl", "-r", "load1"), "client:c/curl is a client, which makes its own load"),
        (("run", "--url", "http://localhost:80/", "-r", "a"), "load host a cannot reach http://localhost:80, which is a loopback address"),
        (("run", "--url", "http://[::1]/", "-r", "a"), "load host a cannot reach http://[::1]:80, which is a loopback address"),
        (
            ("bench", "c/nginx", "--isolate", "docker", "--network", "bridge", "-r", "load1"),
            "load host load1 cannot reach c/nginx@docker-bridge, which is in a bridge network",
        ),
    ],
)
def test_contradictions_are_errors(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    assert error(capfd, monkeypatch, *words) == f"error: {message}"


@pytest.mark.parametrize("option", ["-r", "--remote", "--load-host"])
def test_the_option_has_the_names_of_other_tools(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    assert error(capfd, monkeypatch, "bench", "client:c/curl", option, "load1").startswith("error: client:c/curl is a client")


def test_a_dry_run_with_one_load_host_does_not_connect(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPBENCH_SSH", "false")
    monkeypatch.setattr(sys, "argv", ["httpbench", "bench", "c/nginx", "-r", "user@load1", "--dry-run"])
    with pytest.raises(SystemExit) as ended:
        run_command_line()
    assert ended.value.code == 0
    shown = capfd.readouterr().out
    assert "Load host" in shown and "user@load1" in shown


def test_without_options_the_load_comes_from_this_machine() -> None:
    source, tools = opened(NONE), {"native": get("native")}
    assert type(source) is LoadSource and source.name is None
    assert source.warmup({"warmup_max_s": 10.0}) == {}
    assert source.generators(tools) == tools


def test_one_load_host_is_reached_by_ssh(started: list[tuple[str, ...]]) -> None:
    source = opened(replace(NONE, load_hosts=("user@load1",)), generators=("wrk",))
    assert isinstance(source, SshSource) and source.name == "user@load1"
    assert started == []


def test_several_load_hosts_are_a_cluster(started: list[tuple[str, ...]], capfd: pytest.CaptureFixture[str]) -> None:
    source = opened(replace(NONE, load_hosts=("load1", "load2")))
    assert isinstance(source, DaskSource) and source.workers.hosts == 2
    assert source.name == "load1, load2"
    assert started == [("load1", "load2")]
    assert capfd.readouterr().err == "2 load hosts: load1, load2\n"


def test_the_deprecated_option_works_and_prints_the_new_one(started: list[tuple[str, ...]], capfd: pytest.CaptureFixture[str]) -> None:
    opened(replace(NONE, deprecated="load1,me@load2,"))
    assert started == [("load1", "me@load2")]
    shown = capfd.readouterr().err.splitlines()
    assert shown == ["hint: --load-hosts is deprecated; use -r load1 -r me@load2", "2 load hosts: load1, load2"]


def test_unsupported_options_with_many_load_hosts_are_errors(started: list[tuple[str, ...]]) -> None:
    with pytest.raises(UsageError, match="wrk cannot share one load among hosts"):
        opened(MANY, generators=("native", "wrk"))
    with pytest.raises(UsageError, match="is a client, which makes its own load"):
        opened(MANY, make_target("c/curl", kind=Kind.CLIENT))
    with pytest.raises(UsageError, match="--warmup-max does not apply to many load hosts"):
        opened(MANY).warmup({"warmup_max_s": 10.0})
    with pytest.raises(UsageError, match="all load hosts are this machine"):
        opened(replace(MANY, host="192.0.2.1"))


def test_many_load_hosts_warm_up_for_a_fixed_time(started: list[tuple[str, ...]]) -> None:
    assert opened(MANY).warmup({}) == {"warmup_s": 2.0, "warmup_max_s": None}


def test_load_hosts_on_this_machine_can_reach_loopback_and_bridges(started: list[tuple[str, ...]]) -> None:
    bridged = make_target(isolation=Isolation(engine=Engine.DOCKER, network=NetworkMode.BRIDGE))
    assert isinstance(opened(MANY, make_target(url="http://127.0.0.1:80/"), bridged), DaskSource)


def test_remote_load_hosts_reserve_no_cores_here() -> None:
    topology = Topology(tuple(Core((cpu,), (cpu,), 0, 1024) for cpu in range(3)))
    here, elsewhere = (
        DaskSource(name="", workers=Workers(Scheduler("tcp://h:1"), 2, are_elsewhere=elsewhere)) for elsewhere in (False, True)
    )
    for source, has_generator in (
        (LoadSource(), True),
        (here, True),
        (elsewhere, False),
        (SshSource(name="load1", address=None, install=False), False),
    ):
        assert bool(source.divide(partition)(topology, Scaling.SINGLE, None).generator) is has_generator


def test_many_load_hosts_replace_the_load_generator() -> None:
    (generator,) = DaskSource(name="", workers=Workers(Scheduler("tcp://h:1"), 2)).generators({"native": get("native")}).values()
    assert isinstance(generator, ManyHosts)

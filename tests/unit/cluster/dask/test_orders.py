"""Tests that the orders for an agent contain no paths of this machine."""

from __future__ import annotations

from pathlib import Path

from httpbench.cluster.dask.conductor import orders_for
from httpbench.cluster.dask.orders import Division, Orders, packed, unpacked
from httpbench.load import Job
from httpbench.model import Expectation, Load, Request, Workload


def test_files_are_packed_and_unpacked_by_name(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "body").write_bytes(b"\xffa=1")
    options, files = packed(("--body", f"@{here / 'body'}", "-H", "@@x: y", "--expect-status", "200"), here)
    assert options == ("--body", "@@body", "-H", "@@x: y", "--expect-status", "200")
    assert files == {"body": b"\xffa=1"}
    assert unpacked(Orders("t", options, files, 1.0), there) == ["--body", f"@{there / 'body'}", *options[2:]]
    assert (there / "body").read_bytes() == b"\xffa=1"


def test_an_agent_gets_its_share_of_the_rate_and_its_connections(tmp_path: Path) -> None:
    workload = Workload(name="w", description="", request=Request(method="POST", body="a=1"), expect=Expectation(body="Hello, World!"))
    load = Load(connections=64, rate_rps=1000, duration_s=3, warmup_s=1)
    orders = orders_for(Job("http://10.0.0.9:80/", workload, load, (), tmp_path), Division("2/3", 21, 4), "token")
    options = list(orders.options)
    value = {name: options[options.index(name) + 1] for name in ("--part", "-c", "-t", "--rate", "--body")}
    assert value == {"--part": "2/3", "-c": "21", "-t": "4", "--rate": "1000", "--body": "@@body"}
    assert options[-1] == "http://10.0.0.9:80/" and str(tmp_path) not in " ".join(options)
    assert orders.files == {"body": b"a=1", "expected-body": b"Hello, World!"}
    assert orders.limit_s > 4

"""Tests that every suite has the expected targets and loads."""

from __future__ import annotations

import pytest

from httpbench import catalog
from httpbench.model import Runtime, Scaling, Suite, SuiteLoad, Table
from tests.contract.cases import CLIENTS

HTTP_SERVERS = """
c/epoll/level c/epoll/edge c/io_uring c/nginx
dlang/epoll/level dlang/epoll/edge dlang/during dlang/eventcore/callbacks dlang/eventcore/fibers dlang/vibe-core
dlang/vibe-d/manual dlang/vibe-d/gc dlang/arsd/processes dlang/arsd/threads dlang/arsd/hybrid
dlang/hunt/hunt-http dlang/hunt/hunt-pico dlang/lighttp dlang/photon dlang/mecca
dotnet/aspcore golang/fasthttp rust/actix-web rust/actix-raw
"""

FRAMEWORKS = "dotnet/minimal-api dotnet/controllers node/fastify node/express golang/gin golang/net-http rust/rocket"

TARGETS = {
    "http-servers": HTTP_SERVERS,
    "http-servers-pipelined": HTTP_SERVERS,
    "app-servers": """
        ruby/puma ruby/puma-jit python/gunicorn-meinheld node/cluster dart/http-server elixir/plug-cowboy crystal/http nim/httpbeast
        golang/net-http rust/hyper
    """,
    "tcp-proxies": """
        proxy:c/haproxy proxy:cpp/draft-http-tunnel proxy:rust/http-tunnel proxy:golang/tcp-proxy proxy:java/netcrusher proxy:python/pproxy
    """,
    "http-proxies": """
        proxy:c/nginx proxy:c/haproxy-http proxy:c/apache proxy:c/varnish
        proxy:golang/reverse-proxy proxy:golang/caddy proxy:golang/traefik proxy:rust/pingora
    """,
    "http-proxies-peak": """
        proxy:c/nginx proxy:c/haproxy-http proxy:c/apache proxy:c/varnish
        proxy:golang/reverse-proxy proxy:golang/caddy proxy:golang/traefik proxy:rust/pingora
    """,
    "http-proxies-failover": """
        proxy:c/nginx proxy:c/haproxy-http proxy:c/apache proxy:c/varnish
        proxy:golang/reverse-proxy proxy:golang/caddy proxy:golang/traefik proxy:rust/pingora
    """,
    "http-clients": " ".join(f"client:{name}" for name in CLIENTS.split()),
    "frameworks": FRAMEWORKS,
    "containers": FRAMEWORKS,
}

CATALOG = catalog.load()


def suite(name: str) -> Suite:
    return CATALOG.suite(name)


@pytest.mark.parametrize("name", TARGETS)
def test_a_suite_has_exactly_its_targets(name: str) -> None:
    selected = catalog.select(CATALOG.targets.values(), suite(name).targets, kind=suite(name).kind)
    assert {target.id for target in selected} == set(TARGETS[name].split())


@pytest.mark.parametrize("name", CATALOG.suites)
def test_every_word_of_a_suite_selects_a_target_of_its_kind(name: str) -> None:
    targets = [target for target in CATALOG.targets.values() if target.kind is suite(name).kind]
    assert all(catalog.matching(targets, word) for word in suite(name).targets)


def test_http_servers_run_with_few_and_many_connections_on_one_core_and_on_all() -> None:
    for name, pipeline in (("http-servers", 1), ("http-servers-pipelined", 16)):
        assert suite(name).load == (SuiteLoad(connections=(8, 64, 128, 256), pipeline=pipeline, warmup_s=1, warmup_max_s=10),)
        assert suite(name).scaling == (Scaling.SINGLE, Scaling.MULTI)


def test_app_servers_have_their_original_load() -> None:
    assert suite("app-servers").load == (
        SuiteLoad(connections=(100,), threads=4, duration_s=30, timeout_s=2000, warmup_s=1, warmup_max_s=10),
    )
    assert suite("app-servers").table is Table.APP_SERVERS


def test_techempower_has_the_loads_of_its_program() -> None:
    levels = {"techempower": (16, 32, 64, 128, 256, 512), "techempower-queries": (512,), "techempower-pipelined": (256, 1024, 4096, 16384)}
    for name, connections in levels.items():
        (load,) = suite(name).load
        assert (load.connections, load.duration_s, load.timeout_s) == (connections, 15, 8)
        assert load.pipeline == (16 if name == "techempower-pipelined" else 1)
    rows = [CATALOG.workload(name).expect.rows for name in suite("techempower-queries").workloads]
    assert rows == 2 * [1, 5, 10, 15, 20] + [1, 10, 20, 50, 100]


def test_containers_have_limits_and_the_load_of_autocannon() -> None:
    found = suite("containers")
    assert found.load == (SuiteLoad(connections=(100,), pipeline=10, duration_s=30, timeout_s=10, warmup_s=1, warmup_max_s=10),)
    assert (found.isolate, found.cpus, found.memory) == ((Runtime.DOCKER,), 1, "512m")
    assert found.load_generator == ("autocannon", "native")

"""Tests that the catalog contains every system that the project wants to measure."""

from __future__ import annotations

import pytest

from httpbench import catalog
from httpbench.model import Kind
from tests.contract.cases import CLIENTS
from tests.contract.chosen import FIRST

SERVERS = """
c/epoll/level c/epoll/edge c/io_uring c/nginx
dlang/epoll/level dlang/epoll/edge dlang/during dlang/eventcore/callbacks dlang/eventcore/fibers dlang/vibe-core
dlang/vibe-d/manual dlang/vibe-d/gc dlang/arsd/processes dlang/arsd/threads dlang/arsd/hybrid
dlang/hunt/hunt-http dlang/hunt/hunt-pico dlang/lighttp dlang/photon dlang/mecca
dotnet/aspcore dotnet/minimal-api dotnet/controllers
golang/fasthttp golang/net-http golang/gin
rust/actix-web rust/actix-raw rust/hyper rust/rocket
ruby/puma ruby/puma-jit python/gunicorn-meinheld python/granian python/starlette node/cluster node/fastify node/express
dart/http-server elixir/plug-cowboy crystal/http nim/httpbeast
"""

PROXIES = """
c/haproxy cpp/draft-http-tunnel rust/http-tunnel golang/tcp-proxy java/netcrusher python/pproxy
c/nginx c/haproxy-http c/apache c/varnish golang/reverse-proxy golang/caddy golang/traefik rust/pingora
"""

CATALOG = catalog.load()
TARGETS = [*SERVERS.split(), *(f"client:{name}" for name in CLIENTS.split()), *(f"proxy:{name}" for name in PROXIES.split())]


@pytest.mark.parametrize("name", TARGETS)
def test_the_catalog_has_the_target(name: str) -> None:
    assert name in CATALOG.targets


def test_this_list_is_complete() -> None:
    assert set(CATALOG.targets) == set(TARGETS)


def test_the_first_targets_cover_every_kind() -> None:
    assert {CATALOG.targets[name].kind for name in FIRST} == set(Kind)


def test_targets_tell_how_to_install_their_requirements() -> None:
    for target in CATALOG.targets.values():
        if target.kind is Kind.SERVER:
            assert target.requires, f"{target.id} lists no required program"
        for requirement in target.requires:
            assert requirement.apt or requirement.install

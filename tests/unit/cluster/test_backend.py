"""Tests of a backend on a load host: its requirements and its cores."""

from __future__ import annotations

import pytest

from httpbench.cluster.remote_programs import require_backend
from httpbench.cluster.ssh_host import described
from httpbench.errors import UsageError
from httpbench.model import Build, LoadHost, Requirement, RoundTrips
from tests.factories import make_target

TRIPS = RoundTrips(count=50, min_us=90.0, p50_us=100.0, max_us=400.0)
NGINX = make_target("c/nginx", requires=(Requirement(program="nginx", apt=("nginx-light",)),))


def test_the_backends_program_must_be_installed() -> None:
    require_backend("load1", NGINX, {"programs": {"nginx": "/usr/sbin/nginx"}})
    with pytest.raises(UsageError, match="load1 has no nginx, which c/nginx requires") as raised:
        require_backend("load1", NGINX, {"programs": {"nginx": None}})
    assert raised.value.hint == "install it there: apt-get install nginx-light"


def test_a_backend_that_requires_a_build_cannot_run_there() -> None:
    built = make_target("c/mine", build=Build(commands=(("make",),)))
    with pytest.raises(UsageError, match="c/mine requires a build, so it runs on this machine only"):
        require_backend("load1", built, {"programs": {}})


def test_the_backend_gets_half_of_the_cores() -> None:
    there, backend_cores = load_host(5, with_backend=True)
    assert (there.cpus, there.cores) == ((0, 1, 2), 3)
    assert (there.backend_cpus, backend_cores) == ((3, 4), 2)
    there, backend_cores = load_host(5, with_backend=False)
    assert (there.cores, there.backend_cpus, backend_cores) == (5, (), 0)


def test_one_core_is_not_enough() -> None:
    with pytest.raises(UsageError, match="load1 has one core"):
        load_host(1, with_backend=True)


def load_host(cores: int, *, with_backend: bool) -> tuple[LoadHost, int]:
    seen = {"files": {}, "cpus": list(range(cores)), "open_files": 1024}
    return described("load1", "192.0.2.1", TRIPS, seen, {}, with_backend=with_backend)

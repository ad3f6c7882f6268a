"""Tests of real load generators against a real server on loopback. The generators' results must match the server's counts."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from httpbench import load
from httpbench.errors import LoadError
from httpbench.load import Job, LoadGenerator, Output, Phase
from httpbench.model import Expectation, Load, Measurement, Request, Workload
from httpbench.report.data.autocannon import result
from tests.harness import Harness
from tests.programs import program
from tests.servers import Mode, Server, free_port

pytestmark = pytest.mark.slow

SHORT = Load(connections=4, duration_s=1, warmup_s=0, timeout_s=1)
CUT_OFF = 2 * SHORT.connections + 1
"""Maximum number of requests that the server sees but a generator doesn't count: those in flight at the end, and wrk's test request."""
KEEPS_NO_HISTOGRAM = {"oha", "h2load", "perf-gauge", "autocannon"}
KEEPS_CONNECTIONS = {"h2load", "autocannon"}
"""Load generators that can't open a connection for each request."""
HIDES_LOST_REQUESTS = {"h2load"}
"""Load generators that report neither lost connections nor timeouts. Their adapters detect lost connections."""
COUNTS_UNFINISHED = {"native"}
"""Load generators that add the ages of requests in flight at the end to the latencies if these ages exceed the p99."""
CLOSES_UNANNOUNCED = {"perf-gauge"}
"""Load generators that close each connection after the response without sending ``Connection: close``."""


@pytest.fixture(params=list(load.GENERATORS))
def generator(request: pytest.FixtureRequest) -> LoadGenerator:
    return installed(request.param)


def installed(name: str) -> LoadGenerator:
    """Return the load generator with this name, or skip the test if it isn't installed."""
    found = load.get(name)
    if found.locate() is None:
        pytest.skip(f"{name} is not installed: httpbench setup --load-generator {name}")
    return found


def run(generator: LoadGenerator, job: Job) -> Output:
    assert generator.refuses(job) is None
    done = subprocess.run(generator.argv(job, warmup=False), capture_output=True, text=True, timeout=30, check=False)
    return Output(done.stdout, done.stderr, done.returncode)


def measure(generator: LoadGenerator, server: Server, scratch: Path, asked: Load = SHORT) -> Measurement:
    job = job_for(server, scratch, asked)
    return generator.measurement(job, run(generator, job))


def job_for(server: Server, scratch: Path, asked: Load = SHORT, request: Request | None = None) -> Job:
    workload = Workload(name="test", description="a test's", request=request or Request(), expect=Expectation(body="Hello, World!"))
    return Job(server.url, workload, asked, (), scratch)


def test_the_generator_sends_the_workloads_request_and_counts_match_those_of_the_server(generator: LoadGenerator, tmp_path: Path) -> None:
    assert generator.version()[0].isdigit()
    with Server(Mode.OK) as server:
        job = job_for(server, tmp_path, request=Request(method="DELETE", headers={"X-Asked": "a b", "host": "example.org"}))
        output = run(generator, job)
    (head,) = (head.decode() for head in server.heads)
    assert head.startswith("DELETE / HTTP/1.1\r\n")
    assert "x-asked: a b" in head.lower()
    assert head.lower().count("host: ") == 1 and "example.org" in head
    found = generator.measurement(job, output)
    unfinished = json.loads(output.stdout)["censored"] if generator.name in COUNTS_UNFINISHED else 0
    assert 0 <= server.requests - found.requests.completed <= CUT_OFF
    assert found.requests.ok == found.requests.completed > 100
    assert found.errors_total == 0
    assert found.throughput_rps == pytest.approx(found.requests.ok / found.duration_s, rel=1e-3)
    assert found.service_time_us is not None and found.service_time_us.count == found.requests.completed + unfinished
    assert unfinished <= SHORT.connections
    assert bool(found.service_time_us.histogram) is (generator.name not in KEEPS_NO_HISTOGRAM)


def test_error_responses_do_not_count_as_throughput(generator: LoadGenerator, tmp_path: Path) -> None:
    with Server(Mode.ERROR) as server:
        found = measure(generator, server, tmp_path)
    assert found.requests.ok == 0 and found.throughput_rps == 0
    assert found.errors["unexpected_status"] > 100


def test_resets_are_counted(generator: LoadGenerator, tmp_path: Path) -> None:
    if generator.name in HIDES_LOST_REQUESTS:
        pytest.skip(f"{generator.name} doesn't report resets")
    with Server(Mode.RESET) as server:
        found = measure(generator, server, tmp_path)
    assert found.requests.ok > 0
    assert sum(found.errors.get(kind, 0) for kind in ("reset", "read", "connection_failed")) > 0


@pytest.mark.parametrize("mode", [Mode.RESET, Mode.CLOSE])
def test_lost_connections_are_an_error_if_the_generator_hides_them(mode: Mode, tmp_path: Path) -> None:
    with Server(mode) as server, pytest.raises(LoadError, match="connections to the server were lost"):
        measure(installed("h2load"), server, tmp_path)


@pytest.mark.parametrize("name", ["native", "oha", "autocannon"])
def test_requests_lost_with_a_closed_connection_are_counted(name: str, tmp_path: Path) -> None:
    with Server(Mode.CLOSE) as server:
        found = measure(installed(name), server, tmp_path)
    lost = found.errors["closed_early"]
    assert lost > 0
    assert 0 <= server.requests - found.requests.completed - lost <= CUT_OFF


def test_service_times_match_the_servers_delay(generator: LoadGenerator, tmp_path: Path) -> None:
    with Server(Mode.SLOW, delay_s=0.02) as server:
        found = measure(generator, server, tmp_path)
    times = found.service_time_us
    assert times is not None and times.min is not None
    typical = times.p50 or times.mean
    assert 19_900 <= times.min < 30_000 and typical is not None
    # If the machine is busy, each request takes longer, but the connections then send fewer requests.
    assert times.min <= typical <= 1.5 * SHORT.connections * found.duration_s * 1e6 / found.requests.completed


def test_late_responses_are_timeouts(generator: LoadGenerator, tmp_path: Path) -> None:
    if generator.name in HIDES_LOST_REQUESTS:
        pytest.skip(f"{generator.name} has no request timeout")
    with Server(Mode.LATE, delay_s=1.3) as server:
        found = measure(generator, server, tmp_path, SHORT.model_copy(update={"duration_s": 3}))
    assert found.errors["timeout"] > 0
    assert found.service_time_us is None or (found.service_time_us.max or 0) < 1_100_000


def test_connections_close_without_keep_alive(generator: LoadGenerator, tmp_path: Path) -> None:
    if generator.name in KEEPS_CONNECTIONS:
        pytest.skip(f"{generator.name} refuses to reconnect")
    with Server(Mode.OK) as server:
        found = measure(generator, server, tmp_path, SHORT.model_copy(update={"keepalive": False}))
    assert found.requests.ok > 10 and found.errors_total == 0
    assert server.connections >= found.requests.completed
    if generator.name not in CLOSES_UNANNOUNCED:
        assert all(b"connection: close" in head.lower() for head in server.heads)


def test_a_closed_port_gives_one_clear_error(generator: LoadGenerator, tmp_path: Path) -> None:
    job = Job(f"http://127.0.0.1:{free_port()}/", Workload(name="test", description="a test's"), SHORT, (), tmp_path)
    with pytest.raises(LoadError) as caught:
        generator.measurement(job, run(generator, job))
    assert caught.value.log_tail


@pytest.mark.parametrize("name", ["native", "wrk", "h2load", "autocannon"])
def test_each_pipelined_request_is_counted(name: str, tmp_path: Path) -> None:
    with Server(Mode.OK) as server:
        found = measure(installed(name), server, tmp_path, SHORT.model_copy(update={"pipeline": 16}))
    assert 0 <= server.requests - found.requests.completed <= 16 * CUT_OFF
    assert found.requests.ok == found.requests.completed > 1000


def test_only_an_open_loop_counts_the_wait_for_a_connection(tmp_path: Path) -> None:
    """Send requests at twice the rate that one connection can manage, so that they have to wait."""
    asked = Load(connections=1, duration_s=2, warmup_s=0, timeout_s=5, rate_rps=20)
    found = {}
    for name in ("oha", "h2load"):
        with Server(Mode.SLOW, delay_s=0.1) as server:
            found[name] = measure(installed(name), server, tmp_path, asked)
    response, service = found["oha"].response_time_us, found["h2load"].service_time_us
    assert response is not None and (response.max or 0) > 500_000
    assert service is not None and (service.max or 0) < 300_000


def test_an_unexpected_body_is_wrong(tmp_path: Path) -> None:
    found_by = {}
    workload = Workload(name="test", description="a test's", expect=Expectation(body="Hello, World?"))
    for generator in (installed("native"), installed("autocannon")):
        with Server(Mode.OK) as server:
            job = Job(server.url, workload, SHORT, (), tmp_path)
            found_by[generator.name] = generator.measurement(job, run(generator, job))
    for found in found_by.values():
        assert found.requests.ok == 0 < found.errors["unexpected_body"] == found.requests.completed


def test_workers_share_the_connections(tmp_path: Path) -> None:
    with Server(Mode.OK) as server:
        found = measure(installed("autocannon"), server, tmp_path, SHORT.model_copy(update={"threads": 2, "duration_s": 2}))
        assert server.connections == SHORT.connections
    assert found.requests.ok == found.requests.completed > 100
    assert found.per_second is not None and found.per_second.seconds in (2, 3)


def test_our_tables_equal_autocannons_own(tmp_path: Path) -> None:
    """Check that our tables equal those of autocannon's own function, byte for byte."""
    generator = installed("autocannon")
    workload = Workload(name="test", description="a test's", expect=Expectation(body="Hello, World!"))
    with Server(Mode.SLOW, delay_s=0.003) as server:
        for duration_s in (2, 5, 20):  # a busy machine needs longer to get enough samples for a p99
            job = Job(server.url, workload, SHORT.model_copy(update={"duration_s": duration_s, "pipeline": 16}), (), tmp_path)
            output = run(generator, job)
            found = generator.measurement(job, output)
            if found.service_time_us and found.service_time_us.p99:
                break
    package = Path(generator.program()).resolve().parent
    printed = "printResult(JSON.parse(process.argv[1]), {outputStream: process.stdout})"
    script = f"process.stdout.write(require({json.dumps(str(package))}).{printed})"
    env = {**os.environ, "LC_ALL": "en_US.UTF-8", "NO_COLOR": "1"}
    own = subprocess.run(["node", "-e", script, output.stdout], capture_output=True, text=True, timeout=30, check=True, env=env)
    assert result(found) == own.stdout


def figures_of_oha(printed: str) -> dict[str, float]:
    """Return the figures of oha's own report, by our columns."""
    told = json.loads(printed)
    times = told["latencyPercentiles"] | {"min": told["summary"]["fastest"], "mean": told["summary"]["average"]}
    aborted = told["errorDistribution"].get("aborted due to deadline", 0)
    return {
        **{f"service_time_us_{name}": times[name] * 1e6 for name in ("min", "mean", "p25", "p50", "p75", "p90", "p95", "p99")},
        "service_time_us_max": told["summary"]["slowest"] * 1e6,
        "throughput_rps": told["summary"]["requestsPerSec"] - aborted / told["summary"]["total"],
        "bytes_received": told["summary"]["totalData"],
    }


def figures_of_h2load(printed: str) -> dict[str, float]:
    """Return the figures of h2load's own report, by our columns."""
    row = re.search(r"^time for request: +(.+?) +[\d.]+%$", printed, re.M)
    rate, total = re.search(r", ([\d.]+) req/s", printed), re.search(r"\((\d+)\) total", printed)
    assert row and rate and total
    units = {"us": 1, "ms": 1e3, "s": 1e6}
    times = [float(value) * units[unit] for value, unit in re.findall(r"([\d.]+)(us|ms|s)\b", row[1])]
    return {
        **{f"service_time_us_{name}": time for name, time in zip(("min", "max", "mean", "stddev"), times, strict=True)},
        "throughput_rps": float(rate[1]),
        "bytes_received": float(total[1]),
    }


@pytest.mark.parametrize(("name", "figures"), [("oha", figures_of_oha), ("h2load", figures_of_h2load)])
def test_our_table_equals_the_generators_own_figures(
    name: str, figures: Callable[[str], dict[str, float]], harness: Harness, tmp_path: Path
) -> None:
    """Compare our table with the report that the generator printed in the same run. A script in PATH saves a copy of this report."""
    own, copy = shlex.quote(installed(name).program()), tmp_path / "report"
    program(tmp_path, name, f'if [ "$1" = --version ]; then exec {own} "$@"; fi\n{own} "$@" | tee {shlex.quote(str(copy))}')
    env = {**harness.env, "PATH": f"{tmp_path}{os.pathsep}{harness.env['PATH']}"}
    words = ("--load-generator", name, "-d", "1s", "--timeout", "5s", "--export-csv", "-")
    done = harness.bench("test/misbehaving/good", *words, env=env)
    assert done.returncode == 0, done.stderr
    (line,) = csv.DictReader(done.stdout.splitlines())
    expected = figures(copy.read_text())
    assert {column: float(line[column]) for column in expected} == pytest.approx(expected)


def test_native_reports_its_phases_in_order(tmp_path: Path) -> None:
    native = load.get("native")
    if native.locate() is None:
        pytest.skip(f"native is not built: {native.requirement.label}")
    with Server(Mode.OK) as server:
        job = Job(server.url, Workload(name="test", description="a test's"), SHORT.model_copy(update={"warmup_s": 0.5}), (), tmp_path)
        output = run(native, job)
    phases = [progress.phase for line in output.stderr.splitlines() if (progress := native.progress(line))]
    assert list(dict.fromkeys(phases)) == [Phase.CONNECT, Phase.WARMUP, Phase.MEASURE, Phase.DONE]

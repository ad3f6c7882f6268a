"""How much load a load host can make: our load generator against our fastest server, on the same host."""

from __future__ import annotations

import asyncio
import json
import subprocess

from httpbench.errors import LoadError
from httpbench.load import programs

SERVER, PROGRAM = "httpbench-reference", "httpbench-loadgen"
LOAD = ("-c", "32", "-d", "1s", "--warmup", "200ms", "--json", "-")
LIMIT_S = 10.0


async def sink_rate_rps() -> float | None:
    """Requests/s of one thread over loopback; ``None``: the server is not installed there. Runs on a load host, beside its tasks."""
    return await asyncio.to_thread(_sink_rate_rps)


def _sink_rate_rps() -> float | None:
    server, generator = programs.locate(SERVER), programs.locate(PROGRAM)
    if server is None or generator is None:
        return None
    with subprocess.Popen([server, "--threads", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as sink:
        try:
            assert sink.stdout is not None
            url = json.loads(sink.stdout.readline())["url"]
            done = subprocess.run([generator, *LOAD, url], capture_output=True, timeout=LIMIT_S, check=True, stdin=subprocess.DEVNULL)
            return float(json.loads(done.stdout)["throughput_rps"])
        except (KeyError, ValueError, subprocess.SubprocessError) as error:
            raise LoadError(f"{PROGRAM} cannot load a server of the same host: {error}") from error
        finally:
            sink.terminate()

"""Run a trial with many load hosts, directed from another host of the test network."""

from __future__ import annotations

import json
import sys
from typing import Any

from httpbench.cluster.dask import ManyHosts
from httpbench.load import Job
from tests.namespaces import Host

CONDUCT = """
import asyncio, json, sys
from pathlib import Path
from httpbench.cluster.dask.conductor import ConductedTrial, conduct
print(json.dumps(asyncio.run(conduct(ConductedTrial.read(Path(sys.argv[1]))))))
"""


def conduct_on(host: Host, many: ManyHosts, job: Job) -> dict[str, Any]:
    """Direct a load from this host and return the merged result."""
    done = host.run(sys.executable, "-c", CONDUCT, many.argv(job, warmup=False)[-1], timeout_s=300)
    assert done.returncode == 0, done.stderr
    whole: dict[str, Any] = json.loads(done.stdout)
    return whole

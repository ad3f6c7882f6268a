"""The noise floor of a machine."""

from __future__ import annotations

from httpbench.model.frozen import Frozen, Time
from httpbench.model.load import Load
from httpbench.model.workload import Request


class Noise(Frozen):
    """The noise floor of a machine: how much results of the same server differ in A/A pairs."""

    run: str
    """Id of the run that measured the A/A pairs."""
    made_at: Time
    """Time when that run started, in UTC and ISO 8601 format."""
    hostname: str
    """Name of the machine."""
    cpu_model: str
    """Model of the machine's CPU."""
    kernel: str
    """Release of the machine's kernel."""
    tuning: dict[str, str]
    """Value of each ``httpbench tune`` setting, by name."""
    httpbench_version: str = ""
    """Version of httpbench. Empty: measured by an earlier version, which didn't store its version."""
    cpus_allowed: tuple[int, ...] = ()
    """Logical CPUs that httpbench was allowed to use. Empty: not stored."""
    cpu_quota_cores: float | None = None
    """CPU time that the control groups allowed, in cores. Null: no limit."""
    target: str
    """Id of the server."""
    connections: int
    """Number of connections of the load."""
    load: Load | None = None
    """The load. Null: only ``connections`` and ``duration_s`` were stored, and the other fields had default values."""
    workload: str = "plaintext"
    """Name of the workload."""
    request: Request = Request()
    """The request of the workload."""
    duration_s: float
    """Measured duration of each trial, in seconds."""
    in_slices: bool = False
    """Whether the servers took turns in slices, which causes less noise than whole trials."""
    rounds: int
    """Number of valid pairs."""
    deviation: dict[str, float]
    """Root mean square of the logarithm of each pair's ratio, by the name of the compared result. 0: no noise."""

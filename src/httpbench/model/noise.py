"""The noise floor of a machine."""

from __future__ import annotations

from httpbench.model.frozen import Frozen
from httpbench.model.load import Load
from httpbench.model.workload import Request


class Noise(Frozen):
    """How much one server differs from itself on a machine, measured by A/A pairs."""

    run: str
    """Id of the run that measured the A/A pairs."""
    made_at: str
    """Start of that run: UTC, ISO 8601."""
    hostname: str
    """Name of the machine."""
    cpu_model: str
    """Model of its CPU."""
    kernel: str
    """Release of its kernel."""
    tuning: dict[str, str]
    """Value of each knob of ``httpbench tune``, by name."""
    httpbench_version: str = ""
    """Version of httpbench. Empty: measured by a version that did not store it."""
    cpus_allowed: tuple[int, ...] = ()
    """Logical CPUs that httpbench could use. Empty: not stored."""
    cpu_quota_cores: float | None = None
    """CPU time that the control groups allowed, in cores' worth. Null: no limit."""
    target: str
    """Id of the server that was compared with itself."""
    connections: int
    """Connections of the load."""
    load: Load | None = None
    """The load. Null: only ``connections`` and ``duration_s`` were stored, and the rest had its default."""
    workload: str = "plaintext"
    """Name of the workload."""
    request: Request = Request()
    """The request of the workload."""
    duration_s: float
    """Measured duration of each trial, in seconds."""
    rounds: int
    """Number of pairs that count."""
    deviation: dict[str, float]
    """By figure: root mean square, over the pairs, of the logarithm of their ratio. 0 without noise."""

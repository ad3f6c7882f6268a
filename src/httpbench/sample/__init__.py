"""Measure the CPU time and memory of targets and load generators over time, and other activity on the machine."""

from __future__ import annotations

from httpbench.sample.accept_queue import accept_queue
from httpbench.sample.network import NetworkMeter
from httpbench.sample.occupancy import OccupancyMeter
from httpbench.sample.polling import QUIET_MAX, polling_threads
from httpbench.sample.quota import SharedQuotaMeter
from httpbench.sample.sampler import Current, TreeSampler
from httpbench.sample.strangers import StrangerMeter

__all__ = [
    "QUIET_MAX",
    "Current",
    "NetworkMeter",
    "OccupancyMeter",
    "SharedQuotaMeter",
    "StrangerMeter",
    "TreeSampler",
    "accept_queue",
    "polling_threads",
]

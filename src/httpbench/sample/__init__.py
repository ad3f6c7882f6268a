"""Processor time and memory of a target and of the generator, over time."""

from __future__ import annotations

from httpbench.sample.occupancy import OccupancyMeter
from httpbench.sample.sampler import TreeSampler
from httpbench.sample.tree import descendants

__all__ = ["OccupancyMeter", "TreeSampler", "descendants"]

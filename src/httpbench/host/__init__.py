"""This machine: its cores, facts and tools, the disturbances it causes, and the knobs that reduce them."""

from __future__ import annotations

from httpbench.host.commands import capture
from httpbench.host.cores.core_locks import only_run_on
from httpbench.host.cores.partition import partition, partition_for_load_host, partition_for_proxy, with_database
from httpbench.host.cores.topology import Core, Topology, core_groups, read_topology
from httpbench.host.doctor import examine
from httpbench.host.facts.environment import read_environment
from httpbench.host.facts.git import commits_between
from httpbench.host.facts.repository import Repository
from httpbench.host.finding import Finding, most_harmful
from httpbench.host.knobs.all_knobs import KNOBS
from httpbench.host.knobs.knob import Knob
from httpbench.host.knobs.tuning import KnobTuning, Shown, TuningOutcome
from httpbench.host.tools import packages
from httpbench.host.tools.requirements import Met, Unmet, check, check_all, debian_packages, find, forget, remembering

__all__ = [
    "KNOBS",
    "Core",
    "Finding",
    "Knob",
    "KnobTuning",
    "Met",
    "Repository",
    "Shown",
    "Topology",
    "TuningOutcome",
    "Unmet",
    "capture",
    "check",
    "check_all",
    "commits_between",
    "core_groups",
    "debian_packages",
    "examine",
    "find",
    "forget",
    "most_harmful",
    "only_run_on",
    "packages",
    "partition",
    "partition_for_load_host",
    "partition_for_proxy",
    "read_environment",
    "read_topology",
    "remembering",
    "with_database",
]

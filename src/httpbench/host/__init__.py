"""Facts about this machine: its cores and who gets which, what is installed, what it is, what will
disturb a measurement, and the knobs that keep it from that."""

from __future__ import annotations

from httpbench.host import packages
from httpbench.host.commands import ask
from httpbench.host.doctor import examine
from httpbench.host.environment import read_environment
from httpbench.host.finding import Finding
from httpbench.host.knobs import KNOBS, Knob, tuned
from httpbench.host.memory import remembering
from httpbench.host.partition import partition, partition_for_proxy
from httpbench.host.requirements import Met, Unmet, check, check_all, debian_packages, find, forget
from httpbench.host.topology import Core, Topology, core_groups, read_topology
from httpbench.host.tuning import Outcome, Shown, Tuning

__all__ = [
    "KNOBS",
    "Core",
    "Finding",
    "Knob",
    "Met",
    "Outcome",
    "Shown",
    "Topology",
    "Tuning",
    "Unmet",
    "ask",
    "check",
    "check_all",
    "core_groups",
    "debian_packages",
    "examine",
    "find",
    "forget",
    "packages",
    "partition",
    "partition_for_proxy",
    "read_environment",
    "read_topology",
    "remembering",
    "tuned",
]

"""This machine: its cores, facts and tools, the disturbances it causes, and the knobs that reduce them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.host.commands import capture
    from httpbench.host.cores.core_locks import only_run_on
    from httpbench.host.cores.partition import partition, partition_for_load_host, partition_for_proxy, with_database
    from httpbench.host.cores.topology import Core, Topology, core_groups, read_topology
    from httpbench.host.doctor import examine
    from httpbench.host.facts.environment import read_environment
    from httpbench.host.facts.git import commits_between, git
    from httpbench.host.facts.repository import Repository
    from httpbench.host.finding import Finding, most_harmful
    from httpbench.host.knobs.all_knobs import KNOBS
    from httpbench.host.knobs.knob import Knob
    from httpbench.host.knobs.tuning import KnobTuning, Shown, TuningOutcome
    from httpbench.host.tools.requirements import Met, Unmet, check, check_all, debian_packages, find, forget, remembering
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)

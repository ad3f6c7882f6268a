"""Plan → build → trials, in rounds: the only sequencer."""

from __future__ import annotations

from httpbench.run.bench import Bench, Built, Outcome, backend_of, need_programs, prepare, refusals, run_bench, toolchains
from httpbench.run.builds.build import cache_folder
from httpbench.run.builds.missing import Lack, lacking, packages_of
from httpbench.run.builds.states import RowState, State, state_of, states
from httpbench.run.commands import Asked, path_of, targets_of
from httpbench.run.kinds import KINDS, WARMUP_UNTIL_STEADY, OfKind, estimate_s
from httpbench.run.loads import load_of
from httpbench.run.observer import Observer, Stage
from httpbench.run.plan import Matrix, Plan, make_plan, scaling_of
from httpbench.run.proxy.trial import BASELINE
from httpbench.run.saturate import follow
from httpbench.run.server.verify import probe_target, verify
from httpbench.run.verified import Verified

__all__ = [
    "BASELINE",
    "KINDS",
    "WARMUP_UNTIL_STEADY",
    "Asked",
    "Bench",
    "Built",
    "Lack",
    "Matrix",
    "Observer",
    "OfKind",
    "Outcome",
    "Plan",
    "RowState",
    "Stage",
    "State",
    "Verified",
    "backend_of",
    "cache_folder",
    "estimate_s",
    "follow",
    "lacking",
    "load_of",
    "make_plan",
    "need_programs",
    "packages_of",
    "path_of",
    "prepare",
    "probe_target",
    "refusals",
    "run_bench",
    "scaling_of",
    "state_of",
    "states",
    "targets_of",
    "toolchains",
    "verify",
]

"""Plan trials, build their targets, and run the trials in rounds. No other package decides which trial comes next.

``plan/`` decides which trials to run and in which order, and finds trials that are impossible. ``builds/`` prepares the targets.
``rounds/`` runs the trials one after another and stores each result. ``slices/`` runs rounds in which the targets of a table take turns.
``rounds/trial.py`` runs one trial of any kind of target. ``server/``, ``client/`` and ``proxy/`` combine the steps in ``trial/`` and
``load/`` (start, warm-up, load generator, verdict) into a trial for each kind of target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.http import Transport
    from httpbench.isolate.engine import requirement as requirement_of
    from httpbench.isolate.engine import version as require_engine
    from httpbench.run.bisection import StepsFile, search
    from httpbench.run.builds.bases import bases_of, stages_of
    from httpbench.run.builds.build import cache_folder
    from httpbench.run.builds.engines import engines_left, engines_of, left_behind, remove_leftovers
    from httpbench.run.builds.features import builds_of, built_for
    from httpbench.run.builds.prepare import Built, prepare, toolchains
    from httpbench.run.builds.proofs import is_verified_here, mark_verified, proof_of, sources_of, with_builds
    from httpbench.run.builds.states import Missing, State, TargetState, missing_of, packages_of, states
    from httpbench.run.builds.worktrees import Worktrees
    from httpbench.run.checks import CHECKS
    from httpbench.run.database.choice import cores_beside_database, database_of, databases_of, with_database_cores
    from httpbench.run.kinds import KINDS, OfKind, estimate_s, longest_warmup_s
    from httpbench.run.load.conformance import H2SPEC_INSTALL, h2spec
    from httpbench.run.load.place import ManyPlaces
    from httpbench.run.observer import Stage
    from httpbench.run.plan.commands import Servers, path_of, targets_of
    from httpbench.run.plan.isolated import everywhere
    from httpbench.run.plan.loads import at_share, load_of
    from httpbench.run.plan.preflight import refusals, require_commands, require_programs, with_warmup_of_its_own, without_refused
    from httpbench.run.plan.run_plan import Matrix, RunPlan, make_plan, scaling_of, undeclared
    from httpbench.run.plan.slices import Interleave, with_slices
    from httpbench.run.plan.spec import RunSpec
    from httpbench.run.rounds.profiled import profiled_cells, refuse_unprofiled
    from httpbench.run.rounds.record import Outcome
    from httpbench.run.rounds.rounds import backend_of, make_run
    from httpbench.run.rounds.saturate import usual_search_s
    from httpbench.run.server.verify import probe_target
    from httpbench.run.trial.context import StartContext
    from httpbench.run.trial.inputs import Upstream
    from httpbench.run.trial.start import container_command
    from httpbench.run.trial.verified import Verified
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)

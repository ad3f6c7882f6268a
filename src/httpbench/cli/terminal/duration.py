"""State how many trials a run has and how long they take, for ``--dry-run`` and for the first line of a run."""

from __future__ import annotations

from httpbench.cli.terminal.progress import clock
from httpbench.report.words.numbers import percentage, plural
from httpbench.run import KINDS, RunSpec, estimate_s, longest_warmup_s


def announcement(spec: RunSpec) -> str:
    """Return the line that a run prints before its first trial."""
    builds = ", without builds" if any(spec.targets[name].is_declared for name in spec.target_ids) else ""
    repeats = "; longer if other programs disturb it" if spec.retries else ""
    return f"{_search(spec) if spec.search else _plan(spec)}{profiles_time(spec)}{builds}{repeats}"


def planned_rounds(spec: RunSpec) -> str:
    """Return the number of rounds of a plan: ``5 rounds``, or ``6 to 60 rounds`` if the run may end early."""
    least, most = _rounds_min(spec), spec.plan.rounds
    return f"{least} to {plural(most, 'round')}" if least < most else plural(most, "round")


def planned_time(spec: RunSpec) -> str:
    """Return how long a plan takes: ``about 33s``, or ``about 33s to 5m 12s`` if the run may end early."""
    least, longest_s = _rounds_min(spec), estimate_s(spec.plan.trials, spec.targets)
    if least >= spec.plan.rounds:
        return f"about {clock(longest_s)}"
    shortest_s = estimate_s([planned for planned in spec.plan.trials if planned.round < least], spec.targets)
    return f"about {clock(shortest_s)} to {clock(longest_s)}"


def longer_warmups(spec: RunSpec) -> str:
    """Return how much longer a plan may take because of its warm-ups. Empty if each has a fixed length."""
    longer_s = sum(longest_warmup_s(planned) for planned in spec.plan.trials)
    return f"up to {clock(longer_s)} more if every warm-up lasts its longest" if longer_s else ""


def _rounds_min(spec: RunSpec) -> int:
    """Return after how many rounds the run may end at the earliest."""
    if spec.precision:
        return spec.precision.rounds_min
    return spec.looks[0] if spec.looks else spec.plan.rounds


def profiles_time(spec: RunSpec) -> str:
    """Return how long the profiled round takes: ``, then profiles for about 8s``. Empty without a profiler."""
    if spec.profilers is None:
        return ""
    from httpbench.run import profiled_cells

    seconds = estimate_s(profiled_cells(spec), spec.targets)
    return f", then profiles for about {clock(seconds)}" if not spec.search else ", then a profile"


def _plan(spec: RunSpec) -> str:
    size = plural(len(spec.plan.trials), "trial")
    if spec.precision:
        size = f"{planned_rounds(spec)} until intervals are within ± {percentage(spec.precision.half_width)}, at most {size}"
    elif spec.looks:
        size = f"{planned_rounds(spec)} until the gate is decided, at most {size}"
    return ", ".join(filter(None, (size, planned_time(spec), longer_warmups(spec))))


def _search(spec: RunSpec) -> str:
    from httpbench.run import usual_search_s

    assert spec.search is not None
    first = spec.plan.trials[0]
    usual_s = usual_search_s(spec.search, first, KINDS[spec.targets[first.target].kind].trial_s)
    longest_s = spec.search.time_max_s
    if longest_s is None:
        return f"a search, about {clock(usual_s)}"
    usual = f", usually about {clock(usual_s)}" if usual_s < longest_s else ""
    return f"a search of at most {clock(longest_s)} (--max-time){usual}"

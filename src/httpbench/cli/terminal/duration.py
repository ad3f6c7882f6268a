"""State how many trials a run has and how long they take, for ``--dry-run`` and for the first line of a run."""

from __future__ import annotations

from httpbench.cli.terminal.progress import clock
from httpbench.report.words.numbers import percentage, plural
from httpbench.run import KINDS, RunSpec, estimate_s, longest_warmup_s, usual_search_s


def announcement(spec: RunSpec) -> str:
    """Return the line that a run prints before its first trial."""
    builds = ", without builds" if any(spec.targets[name].is_declared for name in spec.target_ids) else ""
    repeats = "; longer if other programs disturb it" if spec.retries else ""
    return f"{_search(spec) if spec.search else _plan(spec)}{builds}{repeats}"


def planned_time(spec: RunSpec) -> str:
    """Return how long a plan takes: ``about 33s``."""
    return f"about {clock(estimate_s(spec.plan.trials, spec.targets))}"


def longer_warmups(spec: RunSpec) -> str:
    """Return how much longer a plan may take because of its warm-ups. Empty if each has a fixed length."""
    longer_s = sum(longest_warmup_s(planned) for planned in spec.plan.trials)
    return f"up to {clock(longer_s)} more if every warm-up lasts its longest" if longer_s else ""


def _plan(spec: RunSpec) -> str:
    size = plural(len(spec.plan.trials), "trial")
    if precision := spec.precision:
        rounds = f"{precision.rounds_min} to {plural(precision.rounds_max, 'round')}"
        size = f"{rounds} until intervals are within ± {percentage(precision.half_width)}, at most {size}"
    return ", ".join(filter(None, (size, planned_time(spec), longer_warmups(spec))))


def _search(spec: RunSpec) -> str:
    assert spec.search is not None
    first = spec.plan.trials[0]
    usual_s = usual_search_s(spec.search, first, KINDS[spec.targets[first.target].kind].trial_s)
    longest_s = spec.search.time_max_s
    if longest_s is None:
        return f"a search, about {clock(usual_s)}"
    usual = f", usually about {clock(usual_s)}" if usual_s < longest_s else ""
    return f"a search of at most {clock(longest_s)} (--max-time){usual}"

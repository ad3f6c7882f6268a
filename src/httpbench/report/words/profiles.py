"""Text about profiles: the functions of a target, what grew from one profile to another, and the overhead of the profiler."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from httpbench.analysis.profiles import FUNCTIONS_SHOWN, Grown, Profiled, is_of, overhead
from httpbench.analysis.rows import Group
from httpbench.model import KERNEL_MARK, Profile, Run
from httpbench.report.words.loads import load_options
from httpbench.report.words.numbers import percentage, plural, shortened
from httpbench.report.words.tables import TextTable
from httpbench.report.words.targets import label
from httpbench.stats.frames import Area
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.stats.profiles import Growth
from httpbench.text import one_line

AREAS = {
    Area.USER: "user",
    Area.NETWORK: "kernel network stack",
    Area.LOCKS: "locks",
    Area.KERNEL: "rest of the kernel",
}

DIFFERENCES = (
    "at least 5% less",
    "2% to 5% less",
    "up to 2% less",
    "no significant change",
    "up to 2% more",
    "2% to 5% more",
    "at least 5% more",
)
"""Meanings of the colors of a differential flame graph, from the largest decrease to the largest increase."""

DIFFERENCES_MEANING = (
    "Width: CPU time per request of {head}. Color: significant change against {base}, in percent of {head}'s whole CPU time per request."
)

KEYS = "Click a frame to zoom. Arrow keys move between frames, Enter zooms, Escape shows everything."

NAMED_MAX = 3
"""Maximum number of functions in a sentence."""

NAME_MAX = 60
"""Maximum number of characters of a function's name in a sentence."""

DECIMALS_MAX = 3

WHERE_FROM = "Profiles: `--explain` lists functions; `--export-html FILE` draws flame graphs."

EMPTY = "No slice has samples and responses."

TABLE_MEANING = (
    "Share: CPU time of the function itself, without the functions that it calls. µs/request: the same as CPU time per request.",
    "What grew: functions whose CPU time per request changed significantly, over the slices of one start of each target.",
)

GRAPH_MEANING = (
    "Flame graphs: a frame stands for a function. It is below its caller, and as wide as its share of the CPU time, including the "
    "functions that it calls. Frames below 0.1% are left out, and the smallest of more than 2,000."
)


def function_text(name: str) -> str:
    """Return the name of a function for display: ``tcp_sendmsg (kernel)``."""
    own = one_line(name)
    return f"{own.removesuffix(KERNEL_MARK)} (kernel)" if own.endswith(KERNEL_MARK) else own


def place_text(run: Run, profiled: Profiled) -> str:
    """Return the target and the load of a profile: ``c/nginx, plaintext single -c 64``."""
    profile = profiled.profile
    target = run.targets.get(profile.target)
    return f"{label(target) if target else profile.target}, {_load_text(profile)}"


def method(profiled: Profiled) -> str:
    """Say how a profile was taken: ``1,990 samples in 10 slices by perf (cpu-clock), 199 per second of CPU time``."""
    profile = profiled.profile
    samples = f"{plural(profiled.samples, 'sample')} in {plural(len(profile.slices), 'slice')}"
    return f"{samples} by {one_line(profile.profiler)}, {profile.frequency_hz:g} per second of CPU time"


def shares(profiled: Profiled) -> str:
    """Return the share of each area: ``user 45%, kernel network stack 40%, locks 3.0%, rest of the kernel 12%``."""
    return ", ".join(f"{AREAS[area]} {percentage(share)}" for area, share in profiled.shares.items())


def overhead_text(profiled: Profiled, groups: Iterable[Group]) -> str | None:
    """Say how much throughput the profiler cost, or return ``None`` if that is unknown."""
    row = next((row for group in groups for row in group.rows if is_of(profiled.profile, row)), None)
    ratio = None if row is None else overhead(profiled.profile, row)
    if ratio is None:
        return None
    return f"Throughput while profiled: {percentage(abs(1 - ratio))} {'lower' if ratio < 1 else 'higher'} than in the rounds that count."


def functions(profiled: Profiled) -> TextTable:
    """Return a table of the functions with the largest share."""
    columns = [("Function", ""), ("Area", ""), ("Share", "%"), ("µs/request", "")]
    found = profiled.functions[:FUNCTIONS_SHOWN]
    decimals = max(2 - math.floor(math.log10(found[0].us)), 0) if found else 0
    rows = [
        [one_line(one.name).removesuffix(KERNEL_MARK), AREAS[one.area], f"{one.share * 100:.1f}", f"{one.us:,.{decimals}f}"]
        for one in found
    ]
    return TextTable(columns, rows, words=2)


def what_changed(found: Grown) -> Iterator[str]:
    """Yield what grew, then what shrank."""
    shrunk = [growth for growth in reversed(found.functions) if growth.change_us < 0]
    if not shrunk or found.has_grown:
        yield what_grew(found)
    if shrunk:
        yield f"what shrank: {_listed(shrunk)}"


def what_grew(found: Grown) -> str:
    """Return what grew. If nothing did, say that, or that there are too few slices."""
    if found.slices < ROUNDS_MIN:
        return f"what grew: unknown, because the profiles have fewer than {ROUNDS_MIN} slices with samples"
    if not found.has_grown:
        return "what grew: no function's CPU time per request grew significantly"
    return f"what grew: {_listed([growth for growth in found.functions if growth.change_us > 0])}"


def changes_in(run: Run, found: Sequence[Grown], group: Group) -> Iterator[str]:
    """Yield what changed from the baseline to each row of a table. If there are several such rows, sentences name them."""
    own = [(one, row) for one in found for row in group.rows if is_of(one.head.profile, row)]
    for one, row in own:
        name = f"{label(row.target)}: " if len(own) > 1 else ""
        yield from (f"{name}{sentence}" for sentence in what_changed(one))


def changes_between(found: Sequence[Grown]) -> Iterator[str]:
    """Yield what changed between two runs, for each target and load that both profiled."""
    for one in found:
        profile = one.head.profile
        yield from (f"{profile.target}, {_load_text(profile)}: {sentence}" for sentence in what_changed(one))


def difference_title(found: Grown, run: Run | None = None) -> str:
    """Return the title of a change: the targets of one run, or the target of two runs, with the load."""
    profile = found.head.profile
    return f"{_difference(found, run)}: {_load_text(profile)}"


def difference_method(found: Grown, run: Run | None = None) -> str:
    """Say what the widths and colors of a differential flame graph mean."""
    base, head = _names(found, run)
    return DIFFERENCES_MEANING.format(base=base, head=head)


def _difference(found: Grown, run: Run | None) -> str:
    base, head = _names(found, run)
    return f"{head} against {base}" if run else f"{found.head.profile.target}, {head} against {base}"


def _names(found: Grown, run: Run | None) -> tuple[str, str]:
    """Return the names of both sides: the targets of one run, or base and head."""
    if run is None:
        return ("base", "head")
    base, head = (run.targets.get(one.profile.target) for one in (found.base, found.head))
    return (label(base) if base else found.base.profile.target, label(head) if head else found.head.profile.target)


def vanished(found: Grown) -> Iterator[str]:
    """Yield the functions that the second profile lacks, which its flame graph can't show."""
    yield from (
        f"not in the graph, because it has no samples any more: {shortened(function_text(growth.key), NAME_MAX)}"
        for growth in found.vanished
    )


def growth_text(growth: Growth[str]) -> str:
    """Describe a change: ``parse_headers +4.1 µs per request (95% interval 3.6 to 4.6)``."""
    half = (growth.high_us - growth.low_us) / 2
    decimals = min(max(-math.floor(math.log10(half / 5)), 0), DECIMALS_MAX) if half > 0 else DECIMALS_MAX
    change, low, high = (f"{value:.{decimals}f}" for value in (growth.change_us, growth.low_us, growth.high_us))
    sign = "+" if growth.change_us > 0 else ""
    return f"{shortened(function_text(growth.key), NAME_MAX)} {sign}{change} µs per request (95% interval {low} to {high})"


def _load_text(profile: Profile) -> str:
    return " ".join(filter(None, (profile.workload, str(profile.scaling), *load_options(profile.load))))


def _listed(changes: Sequence[Growth[str]]) -> str:
    more = f", and {len(changes) - NAMED_MAX} more" if len(changes) > NAMED_MAX else ""
    return ", ".join(growth_text(growth) for growth in changes[:NAMED_MAX]) + more

"""Changes from one profile to another, as they appear in JSON exports."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.analysis.profiles import Grown
from httpbench.model import Frozen, Load, Scaling


class FunctionChange(Frozen):
    """The significant change of a function's CPU time per request, without the functions that it calls."""

    function: str
    """Name of the function."""
    base_us: float
    """CPU time per request in the first profile, in µs."""
    head_us: float
    """CPU time per request in the second profile, in µs."""
    low_us: float
    """Lower bound of the 95% confidence interval of the change in µs, not corrected for the number of functions."""
    high_us: float
    """Upper bound of this interval, in µs."""
    p_adjusted: float
    """p-value after Holm's correction for all tested functions."""


class ProfileChanges(Frozen):
    """The changes from one profile to another under the same workload and load."""

    baseline: str
    """Id of the target of the first profile."""
    target: str
    """Id of the target of the second profile."""
    scaling: Scaling
    """Scaling of the target."""
    workload: str
    """Name of the workload."""
    load: Load
    """Load of the second profile."""
    slices: int
    """Number of slices of the profile with fewer slices that count."""
    functions: tuple[FunctionChange, ...]
    """Significant changes, the largest growth first. Empty: none, or too few slices."""


def profile_changes(found: Sequence[Grown]) -> tuple[ProfileChanges, ...]:
    """Return changes as they are exported."""
    return tuple(
        ProfileChanges(
            baseline=one.base.profile.target,
            target=one.head.profile.target,
            scaling=one.head.profile.scaling,
            workload=one.head.profile.workload,
            load=one.head.profile.load,
            slices=one.slices,
            functions=tuple(
                FunctionChange(
                    function=growth.key,
                    base_us=growth.base_us,
                    head_us=growth.head_us,
                    low_us=growth.low_us,
                    high_us=growth.high_us,
                    p_adjusted=growth.p_adjusted,
                )
                for growth in one.functions
            ),
        )
        for one in found
    )

"""Options for profiling the targets of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from httpbench.cli.options.fields import Options, option

if TYPE_CHECKING:
    from httpbench.profile import Profilers
    from httpbench.run import RunSpec


class ProfileOptions(Options):
    profile: bool = option(
        "--profile", is_flag=True, help="Profile each target in a last round, which doesn't count: where it spends CPU time."
    )
    profiler: str | None = option(
        "--profiler",
        metavar="CMD",
        default_text="perf, or py-spy for Python",
        help="Profile with a command that samples {pid} for {seconds} and prints folded stacks.",
    )

    def applied(self, spec: RunSpec) -> RunSpec:
        """Return the run with its profilers.

        Raises :class:`~httpbench.errors.UsageError` if a target can't be profiled, and another error if no profiler can be used.
        """
        profilers = self.profilers()
        if profilers is None:
            return spec
        from httpbench.run import refuse_unprofiled

        refuse_unprofiled(spec)
        return replace(spec, profilers=profilers)

    def profilers(self) -> Profilers | None:
        """Return the profilers to use, or ``None`` without these options. Raise an error if there are none, or if CMD can't be used."""
        if not self.profile and self.profiler is None:
            return None
        from httpbench.cli.terminal import console
        from httpbench.profile import Profilers

        found = Profilers.found(self.profiler)
        if found.perf and not found.perf.sees_kernel:
            console.warn("profiles leave out the kernel, which this user may not sample; fix: sysctl kernel.perf_event_paranoid=1 as root")
        return found

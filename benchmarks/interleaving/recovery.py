#!/usr/bin/env python3
"""Measure how throughput recovers after another target's slice, to choose the length of the lead-in.

    benchmarks/interleaving/recovery.py c/nginx golang/net-http     two targets take turns
    benchmarks/interleaving/recovery.py 'java Server.java {host} {port}' node/cluster
    benchmarks/interleaving/recovery.py --repetitions 100 …         narrower intervals

In each repetition, a target is thawed and measured in one window of 5 ms that begins 0, 5, 10 … ms after the start of the load. Then the
other target runs for 100 ms. The table shows the throughput of each window, divided by the mean of the last five windows, and half the
width of its 95% interval. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from httpbench import catalog, host, load
from httpbench.cli.measure import make_spec
from httpbench.model import Load, Scaling, Workload
from httpbench.run import Matrix, Servers, prepare, targets_of
from httpbench.run.clock import now
from httpbench.run.slices.member import Member
from httpbench.run.slices.started import SharedBackend
from httpbench.run.trial.frame import kept_to
from httpbench.run.trial.inputs import TrialInputs

WINDOW_S = 0.005
OFFSETS = 16
OTHER_S = 0.1
REFERENCE = 5
"""Number of windows at the end of a measurement whose mean is taken as the throughput of a target that has recovered."""


class Silent:
    """An observer that reports nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **named: None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs=2)
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("-c", "--connections", type=int, default=64)
    asked = parser.parse_args()
    with ExitStack() as stack:
        members = opened(stack, asked.targets, asked.connections)
        rates: dict[str, list[list[float]]] = {name: [[] for _ in range(OFFSETS)] for name in members}
        for _ in range(asked.repetitions):
            for offset in range(OFFSETS):
                for name, member in members.items():
                    rates[name][offset].append(member.take_probe(offset * WINDOW_S, WINDOW_S))
                    for other in members.values():
                        if other is not member:
                            other.take_probe(0.0, OTHER_S)
    print(f"| target | {' | '.join(f'{1000 * offset * WINDOW_S:.0f} ms' for offset in range(OFFSETS))} |")
    print(f"|---|{'--:|' * OFFSETS}")
    for name, windows in rates.items():
        print(f"| {name} | {' | '.join(cells(windows))} |")
    return 0


def opened(stack: ExitStack, names: Sequence[str], connections: int) -> dict[str, Probing]:
    """Start the targets, warm them up, and freeze them."""
    known, native, topology = catalog.load(), load.get("native"), host.read_topology()
    commands = [name for name in names if name not in known.targets]
    targets = [known.targets[name] for name in names if name in known.targets]
    targets += targets_of(Servers(commands=commands, shell=True)) if commands else []
    workload = Workload(name="get", description="GET /") if commands else known.workload("plaintext")
    closed_loop = Load(connections=connections, duration_s=1, warmup_s=1, warmup_max_s=10)
    matrix = Matrix(targets, [Scaling.SINGLE], [workload.name], [closed_loop], ["native"], 1)
    spec = make_spec(matrix, {"native": native}, targets, {workload.name: workload})
    built = prepare(targets, Silent(), 1)
    found: dict[str, Probing] = {}
    backend = SharedBackend(stack)
    for planned in spec.plan.trials:
        inputs = TrialInputs(
            plan=planned.model_copy(update={"slices": 1}),
            started_at=now(),
            target=spec.targets[planned.target],
            workload=spec.workloads[workload.name],
            generator=native,
            folder=built.folders[planned.target],
            cores=topology.groups(planned.cores.target),
        )
        if not found:
            stack.enter_context(kept_to(planned.cores.harness))
        found[planned.target] = stack.enter_context(Probing(inputs, Silent(), backend))
        found[planned.target].open()
    return found


class Probing(Member):
    """A target that is measured in windows of any length."""

    def take_probe(self, lead_in_s: float, window_s: float) -> float:
        """Return the throughput in one window, in requests/s."""
        assert self._started is not None, self._failure
        self._started.ready.running.thaw()
        report = self._started.generator.slice(lead_in_s, window_s)
        self._started.ready.running.freeze()
        assert report is not None, "the target ended"
        return report.throughput_rps


def cells(rates: Sequence[Sequence[float]]) -> list[str]:
    """Return the relative throughput of each window and half the width of its 95% interval, as text."""
    level = statistics.mean(rate for window in rates[-REFERENCE:] for rate in window)
    return [
        f"{statistics.mean(window) / level:.3f} ± {1.96 * statistics.stdev(window) / len(window) ** 0.5 / level:.3f}" for window in rates
    ]


if __name__ == "__main__":
    sys.exit(main())

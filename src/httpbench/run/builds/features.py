"""Choose which optional features of a target a trial compiles. The choice depends on nothing but the trial's own load and workload."""

from __future__ import annotations

from itertools import combinations

from httpbench.model import Feature, Load, Target, Workload


def built_for(target: Target, workload: Workload, *, tls: bool = False, http2: bool = False) -> Target:
    """Return the target with the declared features that this workload and protocol need."""
    needed = {Feature.TLS: tls, Feature.HTTP2: http2, Feature.DATABASE: workload.asks_database}
    return _with(target, *(feature for feature in target.build.features if needed[feature]))


def built_for_load(target: Target, workload: Workload, load: Load) -> Target:
    """Return the target with the declared features that a trial needs."""
    return built_for(target, workload, tls=load.tls, http2=load.http2)


def builds_of(target: Target) -> list[Target]:
    """Return the target with each set of features that a trial can need, beginning with none."""
    declared = target.build.features
    return [_with(target, *chosen) for size in range(len(declared) + 1) for chosen in combinations(declared, size)]


def usual_builds(target: Target) -> list[Target]:
    """Return the target with the features that its workloads need without TLS and HTTP/2, beginning with none."""
    plain = _with(target)
    return [plain, _with(target, Feature.DATABASE)] if Feature.DATABASE in target.build.features else [plain]


def _with(target: Target, *features: Feature) -> Target:
    return target.model_copy(update={"features": features}) if features != target.features else target

"""Immutable models of all data that httpbench reads, plans, measures, stores and exports.

The models do no input or output. Names of quantities end with their units, and latencies are in microseconds. A value that wasn't measured
is ``None``, unless the docstring of the field says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.model.client_measurement import ClientMeasurement, Timing, WorkDone
    from httpbench.model.commit import Commit
    from httpbench.model.container import (
        CPUS,
        MEMORY_BYTES,
        USUAL_CAPABILITIES,
        ContainerRecipe,
        ContainerRun,
        Engine,
        Isolation,
        NetworkMode,
        Runtime,
        size_bytes,
    )
    from httpbench.model.entry import Approach, Database, Entry, Orm
    from httpbench.model.environment import Environment, LoadHost, RoundTrips
    from httpbench.model.failover import Failover
    from httpbench.model.frozen import Argv, Frozen, Id, Name, build_validators
    from httpbench.model.load import STEADY_S_MIN, WARMUP_S_MAX, Arrivals, Fault, Level, Load
    from httpbench.model.measurement import (
        BETWEEN_EVENTS,
        FIRST_BYTE,
        FIRST_EVENT,
        Distribution,
        Events,
        HostShare,
        Interval,
        Measurement,
        OverSeconds,
        PartMeasurement,
        PerSecond,
        Requests,
        SampledBodies,
        Stalls,
        Step,
        TlsHandshakes,
    )
    from httpbench.model.noise import Noise
    from httpbench.model.observed import Criteria, Observed
    from httpbench.model.plan import Cores, TrialPlan
    from httpbench.model.probe import Label, Observation, Probed, Trait
    from httpbench.model.profile import KERNEL_MARK, NOT_SAMPLED, KernelCounts, Profile, ProfiledSlice
    from httpbench.model.proof import Conformance, Proof, ProofFile, ProvenBuild, ProxyOutcome
    from httpbench.model.response import SampledRequest, SampledResponse
    from httpbench.model.run import Gate, Precision, Run, RunStatus
    from httpbench.model.search import Bound, Figure, Search, ServiceLevel
    from httpbench.model.startup import Startup
    from httpbench.model.suite import Suite, SuiteLoad, Table
    from httpbench.model.target import (
        PLACEHOLDER,
        PLACEHOLDERS,
        UNIX,
        Build,
        Category,
        Feature,
        Http2,
        Https,
        Kind,
        Limit,
        ProxyMode,
        Requirement,
        Scaling,
        Target,
        TargetFile,
        Trust,
        Tuning,
        TwoBackends,
        Variant,
        uses_certificate,
    )
    from httpbench.model.trial import Commands, DatabaseRun, Learned, LearnedRequests, Settling, Trial
    from httpbench.model.usage import (
        STRANGERS_MAX,
        CoreOccupancy,
        LinkUse,
        LoadHostUse,
        Network,
        Others,
        Sample,
        SharedQuota,
        Stranger,
        Usage,
    )
    from httpbench.model.verdict import ENDINGS, Reason, ReasonKind, Verdict, VerdictKind
    from httpbench.model.workload import EVENT_STREAM, ClientWork, Expectation, ListedRequest, MixPart, Request, RequestList, Rule, Workload
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)

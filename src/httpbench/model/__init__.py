"""The terms of httpbench, as frozen models.

Everything that httpbench reads from TOML, plans, measures, stores or exports is one of these models. Models don't use files, processes
or terminals. The names of quantities end with their units. Latencies are in microseconds. A value that wasn't measured is ``None``, never
zero.
"""

from __future__ import annotations

from httpbench.model.client_measurement import ClientMeasurement, Timing, WorkDone
from httpbench.model.container import CPUS, MEMORY_BYTES, ContainerRecipe, ContainerRun, Engine, Isolation, NetworkMode, Runtime, size_bytes
from httpbench.model.entry import Approach, Database, Entry, Orm
from httpbench.model.environment import Environment, LoadHost, RoundTrips
from httpbench.model.frozen import Argv, Frozen, Id, Name
from httpbench.model.load import STEADY_S_MIN, Arrivals, Level, Load
from httpbench.model.measurement import (
    Distribution,
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
)
from httpbench.model.noise import Noise
from httpbench.model.observed import Criteria, Observed
from httpbench.model.plan import Cores, TrialPlan
from httpbench.model.probe import Label, Observation, Probed, Trait
from httpbench.model.proof import Proof, ProofFile
from httpbench.model.response import SampledRequest, SampledResponse
from httpbench.model.run import Gate, Precision, Run, RunStatus
from httpbench.model.search import Bound, Figure, Search, ServiceLevel
from httpbench.model.suite import Suite, SuiteLoad, Table
from httpbench.model.target import PLACEHOLDERS, Build, Category, Kind, Limit, Requirement, Scaling, Target, TargetFile, Tuning, Variant
from httpbench.model.trial import Commands, DatabaseRun, Learned, Settling, Trial
from httpbench.model.usage import STRANGERS_MAX, CoreOccupancy, LinkUse, LoadHostUse, Network, Others, Sample, SharedQuota, Stranger, Usage
from httpbench.model.verdict import ENDINGS, Reason, ReasonKind, Verdict, VerdictKind
from httpbench.model.workload import ClientWork, Expectation, MixPart, Request, Rule, Workload

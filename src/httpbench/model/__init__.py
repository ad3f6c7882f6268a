"""The nouns of httpbench, as frozen models.

Whatever is read from TOML, planned, measured, stored or exported is one of these. They know nothing of files, processes or
terminals. Units stand last in names; every latency is in microseconds; a figure that was not measured is ``None``, never zero.
"""

from __future__ import annotations

from httpbench.model.frozen import Argv, Frozen, Name
from httpbench.model.load import ClientWork, Cores, Expectation, Level, Load, Request, Suite, SuiteLoad, Table, TrialPlan, Workload
from httpbench.model.noise import Noise
from httpbench.model.probe import Label, Observation, Probed, Trait
from httpbench.model.result import (
    ClientMeasurement,
    CoreOccupancy,
    Distribution,
    Environment,
    Interval,
    Measurement,
    Network,
    Precision,
    Requests,
    Run,
    RunStatus,
    Sample,
    SampledRequest,
    SampledResponse,
    Step,
    Timing,
    Trial,
    Usage,
    Verdict,
    VerdictKind,
    WorkDone,
)
from httpbench.model.target import PLACEHOLDERS, Build, Category, Kind, Limit, Requirement, Scaling, Target, TargetFile, Tuning, Variant

__all__ = [
    "PLACEHOLDERS",
    "Argv",
    "Build",
    "Category",
    "ClientMeasurement",
    "ClientWork",
    "CoreOccupancy",
    "Cores",
    "Distribution",
    "Environment",
    "Expectation",
    "Frozen",
    "Interval",
    "Kind",
    "Label",
    "Level",
    "Limit",
    "Load",
    "Measurement",
    "Name",
    "Network",
    "Noise",
    "Observation",
    "Precision",
    "Probed",
    "Request",
    "Requests",
    "Requirement",
    "Run",
    "RunStatus",
    "Sample",
    "SampledRequest",
    "SampledResponse",
    "Scaling",
    "Step",
    "Suite",
    "SuiteLoad",
    "Table",
    "Target",
    "TargetFile",
    "Timing",
    "Trait",
    "Trial",
    "TrialPlan",
    "Tuning",
    "Usage",
    "Variant",
    "Verdict",
    "VerdictKind",
    "WorkDone",
    "Workload",
]

"""Build a load from the fields of a suite or from options, including the duration of a rising rate, a cap and a scale."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from httpbench.errors import UsageError
from httpbench.model import STEADY_S_MIN, Arrivals, Load

RATES = ("rate_rps", "rate_from_rps", "rate_step_rps")
TIMES = ("duration_s", "warmup_s", "fault_at_s", "fault_s")
SHORT_WARMUP_SHARE = 0.5
"""Length of the warm-up relative to the measurement if the measurement is too short for a warm-up until throughput is steady."""

OVERLOAD_CONNECTIONS = 1000
"""Minimum number of connections of an overload. With as few connections as in the closed loop, the target would get no more requests at
once, because further requests would wait in the load generator."""

STEP_GRAIN_S = 0.5
"""Granularity to which scaled steps are rounded up, in seconds. Each step then contains a whole number of the generator's intervals."""


def load_of(fields: Mapping[str, Any], *, scale: float = 1.0, cap_rps: float | None = None, as_typed: Collection[str] = ()) -> Load:
    """Build a load from ``fields``. For a rising rate, the field ``duration_s`` is the time for which the highest rate is held.

    Rates and times are multiplied by ``scale``, except the fields that ``as_typed`` names. Raises ``pydantic.ValidationError`` if the
    fields are invalid.
    """
    values = {name: value for name, value in fields.items() if value is not None}
    if cap_rps is not None and values.get("rate_rps", 0) > cap_rps:
        values = _capped(values, cap_rps)
    values |= {name: values[name] * scale for name in (*RATES, *TIMES) if name in values and name not in as_typed}
    if "duration_s" in as_typed and "warmup_max_s" not in as_typed and "step_s" not in values:
        values |= _warmup_for(values)
    if "step_s" in values:
        if scale != 1 and "step_s" not in as_typed:
            values["step_s"] = max(math.ceil(values["step_s"] * scale / STEP_GRAIN_S - 1e-9), 1) * STEP_GRAIN_S
        held_s = values.get("duration_s", Load.model_fields["duration_s"].default * scale)
        values["duration_s"] = _rising_s(values) + max(held_s, values["step_s"])
    return Load.model_validate(values)


def at_share(closed: Load, share: float, arrivals: Arrivals = Arrivals.POISSON) -> Load:
    """Return the open loop at a share of each target's own peak, which the closed loop measures.

    The warm-up of an overload is separate, at a lower rate, so that no requests are left over from it when the overload begins.
    """
    changes: dict[str, Any] = {"share_of_peak": share, "arrivals": arrivals}
    if share > 1:
        changes |= {"connections": max(OVERLOAD_CONNECTIONS, closed.connections), "warmup_s": 0.0}
        changes |= {"warmup_max_s": max(closed.warmup_max_s or closed.warmup_s, STEADY_S_MIN)}
    return Load.model_validate({**closed.model_dump(), **changes})


def _warmup_for(values: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the warm-up for a measurement whose length the user chose, so that it isn't much longer than the measurement.

    A warm-up until throughput is steady takes at most as long as the measurement. If that is too short to detect a steady state, the
    warm-up has a fixed length.
    """
    max_s, warmup_s, duration_s = values.get("warmup_max_s"), values.get("warmup_s", 0.0), values["duration_s"]
    if max_s is None or duration_s >= max_s:
        return {}
    if duration_s >= warmup_s + STEADY_S_MIN:
        return {"warmup_max_s": duration_s}
    return {"warmup_s": min(warmup_s, SHORT_WARMUP_SHARE * duration_s), "warmup_max_s": None}


def _capped(values: dict[str, Any], cap_rps: float) -> dict[str, Any]:
    """Return the fields of a load that rises to the cap and then stays there. A rate that would start at or above the cap is constant."""
    rises = values.get("rate_from_rps", cap_rps) < cap_rps
    left_out = () if rises else ("rate_from_rps", "rate_step_rps", "step_s")
    return {name: value for name, value in values.items() if name not in left_out} | {"rate_rps": cap_rps}


def _rising_s(values: Mapping[str, Any]) -> float:
    """Return the time until the load reaches its highest rate, in seconds."""
    try:
        steps = math.ceil((values["rate_rps"] - values["rate_from_rps"]) / values["rate_step_rps"] - 1e-9)
    except KeyError as missing:
        raise UsageError(f"a rising rate also requires {missing.args[0]}", hint="--rate 10k..25k --step 1k/60s") from None
    return float(steps * values["step_s"])

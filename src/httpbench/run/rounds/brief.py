"""The short form of a trial that a run keeps in memory once the whole trial is stored, so that a run of any length needs little memory."""

from __future__ import annotations

from httpbench.model import Distribution, Measurement, Trial, Verdict


def brief(trial: Trial, *, with_result: bool) -> Trial:
    """Return a trial with only the fields that decide which trials are next, and how they run.

    ``with_result`` also keeps the main result, from which a run with a required precision decides when to end, and which rates relative to
    a peak depend on. Reasons are kept only in the first round, after which :mod:`httpbench.stats.hopeless` reads them.
    """
    verdict = trial.verdict
    return Trial(
        plan=trial.plan,
        started_at=trial.started_at,
        verdict=verdict if trial.plan.round == 0 else Verdict(kind=verdict.kind, is_accepted=verdict.is_accepted),
        measurement=_brief_measurement(trial.measurement) if trial.measurement and with_result else None,
        learned=trial.learned,
        probed=trial.probed,
    )


def _brief_measurement(measurement: Measurement) -> Measurement:
    """Return a measurement with only the results that :mod:`httpbench.stats.precision` uses."""
    times = measurement.times_us
    return Measurement(
        generator=measurement.generator,
        generator_version=measurement.generator_version,
        duration_s=measurement.duration_s,
        requests=measurement.requests,
        throughput_rps=measurement.throughput_rps,
        response_time_us=times and Distribution(count=times.count, p99=times.p99),
    )

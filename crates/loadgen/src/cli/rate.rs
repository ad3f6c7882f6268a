//! Parses offered rates: `25k`, `10k..25k`, and steps such as `1k/10s`.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::units::{parse_number, parse_positive_duration};
use crate::time::offered_rate::{Profile, Segment};

/// Maximum rate. It is far above what one machine can send, and it prevents overflows of request counts.
const RATE_MAX_RPS: f64 = 1e8;
const STEPS_MAX: f64 = 10_000.0;

/// An offered rate. If `from_rps` and `to_rps` differ, the rate changes from the first to the second during the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateRange {
    pub from_rps: f64,
    pub to_rps: f64,
}

pub fn parse_rate(text: &str) -> Result<RateRange, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let range = RateRange { from_rps: parse_number(from)?, to_rps: parse_number(to)? };
    for rps in [range.from_rps, range.to_rps] {
        if !(rps > 0.0 && rps <= RATE_MAX_RPS) {
            return Err("a rate must be above 0 and at most 100M requests per second".to_owned());
        }
    }
    Ok(range)
}

/// A step in the offered rate: the rate changes by `rps` after every `period`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub rps: f64,
    pub period: Duration,
}

pub fn parse_step(text: &str) -> Result<Step, String> {
    let (rps, period) = text.split_once('/').ok_or("write RATE/DURATION, such as 1k/10s")?;
    let step = Step { rps: parse_number(rps)?, period: parse_positive_duration(period)? };
    if step.rps <= 0.0 {
        return Err("a step must be above 0".to_owned());
    }
    Ok(step)
}

/// Returns the rate over time. Without steps, the rate changes linearly over `duration`. With steps, the rate stays at `to_rps` after the
/// last step.
pub fn profile(range: RateRange, step: Option<Step>, duration: Duration) -> Result<Profile> {
    let RateRange { from_rps, to_rps } = range;
    let Some(step) = step else {
        return Ok(Profile::new(vec![Segment { duration_s: duration.as_secs_f64(), from_rps, to_rps }]));
    };
    let count = ((to_rps - from_rps).abs() / step.rps).ceil();
    if count == 0.0 || count > STEPS_MAX {
        bail!("{from_rps} to {to_rps} in steps of {} takes {count} steps, but 1 to {STEPS_MAX} are allowed", step.rps);
    }
    let direction = (to_rps - from_rps).signum();
    let rates = (0..=count as u32).map(|at| if f64::from(at) == count { to_rps } else { from_rps + direction * f64::from(at) * step.rps });
    let required = step.period.checked_mul(count as u32 + 1).context("the steps are too long")?;
    if required > duration {
        bail!("{} steps of {:?} require -d {:?}, but the run lasts {duration:?}", count + 1.0, step.period, required);
    }
    Ok(Profile::new(rates.map(|rps| Segment { duration_s: step.period.as_secs_f64(), from_rps: rps, to_rps: rps }).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_rates_and_steps() {
        assert_eq!(parse_rate("25k"), Ok(RateRange { from_rps: 25e3, to_rps: 25e3 }));
        assert_eq!(parse_rate("10k..25k"), Ok(RateRange { from_rps: 10e3, to_rps: 25e3 }));
        assert_eq!(parse_step("1k/10s"), Ok(Step { rps: 1e3, period: Duration::from_secs(10) }));
        for bad in ["0", "-1", "1..", "..", "1G", "200M"] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
        for bad in ["1k", "1k/0s", "0/1s"] {
            assert!(parse_step(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn steps_lead_from_the_first_to_the_last_rate() -> Result<()> {
        let step = Some(Step { rps: 1000.0, period: Duration::from_secs(1) });
        let up = profile(RateRange { from_rps: 1000.0, to_rps: 3500.0 }, step, Duration::from_secs(10))?;
        assert!((up.requests_until(4.0) - (1000.0 + 2000.0 + 3000.0 + 3500.0)).abs() < 1e-6);
        assert!((up.requests_until(5.0) - up.requests_until(4.0) - 3500.0).abs() < 1e-6);
        let down = profile(RateRange { from_rps: 3000.0, to_rps: 1000.0 }, step, Duration::from_secs(3))?;
        assert!((down.requests_until(3.0) - 6000.0).abs() < 1e-6);
        assert!(profile(RateRange { from_rps: 1000.0, to_rps: 3000.0 }, step, Duration::from_secs(2)).is_err());
        assert!(profile(RateRange { from_rps: 1000.0, to_rps: 1000.0 }, step, Duration::from_secs(2)).is_err());
        Ok(())
    }
}

//! The offered rate as a function of time.

use std::time::Duration;

/// A period in which the rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    pub duration_s: f64,
    pub from_rps: f64,
    pub to_rps: f64,
}

impl Segment {
    pub(super) fn requests(&self) -> f64 {
        self.duration_s * (self.from_rps + self.to_rps) / 2.0
    }

    /// Returns the time from the start of the segment until `count` requests have become due.
    pub(super) fn seconds_until(&self, count: f64) -> f64 {
        let slope = (self.to_rps - self.from_rps) / self.duration_s;
        if slope == 0.0 || !slope.is_finite() {
            return count / self.from_rps;
        }
        // Solves slope/2 · t² + from · t = count for t. This form of the solution avoids cancellation.
        2.0 * count / (self.from_rps + (self.from_rps * self.from_rps + 2.0 * slope * count).max(0.0).sqrt())
    }
}

/// The offered rate over time. After the last segment, the rate stays constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub(super) segments: Vec<Segment>,
}

impl Profile {
    pub fn new(segments: Vec<Segment>) -> Self {
        assert!(!segments.is_empty(), "a profile needs at least one segment");
        Self { segments }
    }

    pub fn constant(rps: f64) -> Self {
        Self::new(vec![Segment { duration_s: 1.0, from_rps: rps, to_rps: rps }])
    }

    pub fn initial_rps(&self) -> f64 {
        self.segments[0].from_rps
    }

    /// Returns the profile with a warm-up before it. During the warm-up, the offered rate is the profile's initial rate.
    pub fn after_warmup(mut self, warmup: Duration) -> Self {
        if !warmup.is_zero() {
            let rps = self.initial_rps();
            self.segments.insert(0, Segment { duration_s: warmup.as_secs_f64(), from_rps: rps, to_rps: rps });
        }
        self
    }

    /// Returns the number of requests due within the first `seconds`.
    pub fn requests_until(&self, seconds: f64) -> f64 {
        let (mut total, mut left_s) = (0.0, seconds);
        for segment in &self.segments {
            let take_s = left_s.min(segment.duration_s);
            let rate_at_take = segment.from_rps + (segment.to_rps - segment.from_rps) * take_s / segment.duration_s;
            total += take_s * (segment.from_rps + rate_at_take) / 2.0;
            left_s -= take_s;
            if left_s <= 0.0 {
                return total;
            }
        }
        total + left_s * self.segments.last().map_or(0.0, |segment| segment.to_rps)
    }
}

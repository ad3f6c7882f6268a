//! The schedule of an open loop.
//!
//! Each send time is computed from the number of the request and not from the previous send time, so errors don't accumulate. The offered
//! rate is a piecewise linear function of time. Arrivals are first computed for a rate of 1: the k-th arrival is at time k for constant
//! spacing, and at the sum of k exponential gaps for Poisson arrivals. The inverse of the integral of the offered rate then maps each
//! arrival to its send time (the time-rescaling theorem; Brown et al., Neural Computation 14, 2002). Ramps therefore need no special case.

use super::offered_rate::Profile;
use crate::random::Random;

/// The distribution of arrival times at a given rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Arrivals {
    /// Evenly spaced.
    Constant,
    /// Random and independent, like requests from many users.
    Poisson,
}

impl Arrivals {
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        }
    }
}

/// The arrivals of one thread: every `threads`-th arrival of a constant schedule, or a Poisson process with the thread's share of the rate.
#[derive(Clone, Debug)]
pub struct Schedule {
    profile: Profile,
    arrivals: Arrivals,
    threads: f64,
    thread: f64,
    count: u64,
    /// Number of arrivals of this thread; `u64::MAX` if unlimited.
    limit: u64,
    /// Sum of the exponential gaps so far. The unit is the mean gap between two requests of all threads together.
    poisson_sum: f64,
    random: Random,
    /// Generates a new seed for each restart. Without new seeds, the arrivals after a restart would depend on the number of gaps generated
    /// before it, which varies.
    seeds: Random,
    segment: usize,
    /// Number of requests due before the current segment, and start time of the segment in seconds.
    before: (f64, f64),
}

impl Schedule {
    pub fn new(profile: Profile, arrivals: Arrivals, thread: u32, threads: u32, seed: u64) -> Self {
        let random = Random::of_thread(seed, thread);
        Self {
            profile,
            arrivals,
            threads: f64::from(threads),
            thread: f64::from(thread),
            count: 0,
            limit: u64::MAX,
            poisson_sum: 0.0,
            seeds: random.clone(),
            random,
            segment: 0,
            before: (0.0, 0.0),
        }
    }

    /// Returns the schedule with only its first `total` arrivals, or the schedule itself if `total` is `None`.
    pub fn limited_to(self, total: Option<u64>) -> Self {
        Self { limit: total.unwrap_or(u64::MAX), ..self }
    }

    /// Returns one thread's share of the schedule, starting at its beginning.
    pub fn of_thread(self, thread: u32, threads: u32, seed: u64) -> Self {
        let limit = match self.limit {
            u64::MAX => u64::MAX,
            total => total / u64::from(threads) + u64::from(u64::from(thread) < total % u64::from(threads)),
        };
        Self { limit, ..Self::new(self.profile, self.arrivals, thread, threads, seed) }
    }

    /// Restarts the schedule. If it has been used before, it gets new Poisson arrivals, which depend only on the seed and the number of
    /// restarts.
    pub fn restart(&mut self) {
        if self.count > 0 {
            self.random = Random::new(self.seeds.next_u64());
        }
        (self.count, self.poisson_sum, self.segment, self.before) = (0, 0.0, 0, (0.0, 0.0));
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns the time of the next arrival, in nanoseconds since the start of the schedule, or `u64::MAX` after the last arrival. The
    /// returned times never decrease.
    pub fn next_ns(&mut self) -> u64 {
        if self.count == self.limit {
            return u64::MAX;
        }
        let arrival = match self.arrivals {
            Arrivals::Constant => self.count as f64 * self.threads + self.thread,
            Arrivals::Poisson => {
                self.poisson_sum += self.random.exponential() * self.threads;
                self.poisson_sum
            }
        };
        self.count += 1;
        let segments = &self.profile.segments;
        while self.segment + 1 < segments.len() && arrival >= self.before.0 + segments[self.segment].requests() {
            self.before.0 += segments[self.segment].requests();
            self.before.1 += segments[self.segment].duration_s;
            self.segment += 1;
        }
        let segment = &segments[self.segment];
        let within = arrival - self.before.0;
        let seconds = if within <= segment.requests() {
            segment.seconds_until(within)
        } else {
            segment.duration_s + (within - segment.requests()) / segment.to_rps
        };
        ((self.before.1 + seconds) * 1e9) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::offered_rate::Segment;
    use super::super::part::Part;
    use super::*;

    fn arrivals_s(schedule: &mut Schedule, until_s: f64) -> Vec<f64> {
        std::iter::from_fn(|| Some(schedule.next_ns() as f64 / 1e9)).take_while(|at| *at < until_s).collect()
    }

    #[test]
    fn constant_spacing_does_not_drift() {
        let mut schedule = Schedule::new(Profile::constant(30_000.0), Arrivals::Constant, 0, 1, 0);
        let mut last = 0;
        for _ in 0..3_000_001 {
            last = schedule.next_ns();
        }
        assert!(last.abs_diff(100_000_000_000) <= 20, "{last}");
    }

    #[test]
    fn threads_interleave_to_one_schedule() {
        let times = |thread, threads| arrivals_s(&mut Schedule::new(Profile::constant(100.0), Arrivals::Constant, thread, threads, 0), 1.0);
        let mut joined = [times(0, 3), times(1, 3), times(2, 3)].concat();
        joined.sort_by(f64::total_cmp);
        assert_eq!(joined, times(0, 1));
    }

    #[test]
    fn threads_share_a_limited_number_of_arrivals() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let whole = Schedule::new(Profile::constant(100.0), arrivals, 0, 1, 0).limited_to(Some(8));
            let times = |thread| arrivals_s(&mut whole.clone().of_thread(thread, 3, 0), 1e9);
            assert_eq!([times(0).len(), times(1).len(), times(2).len()], [3, 3, 2]);
            let mut restarted = whole.clone();
            let first = arrivals_s(&mut restarted, 1e9).len();
            restarted.restart();
            assert_eq!((first, arrivals_s(&mut restarted, 1e9).len()), (8, 8));
        }
    }

    #[test]
    fn the_arrivals_of_a_start_do_not_depend_on_how_many_were_taken_before() {
        let after = |taken| {
            let mut schedule = Schedule::new(Profile::constant(1000.0), Arrivals::Poisson, 0, 1, 7);
            let fresh: Vec<_> = (0..taken).map(|_| schedule.next_ns()).collect();
            schedule.restart();
            (fresh, (0..100).map(|_| schedule.next_ns()).collect::<Vec<_>>())
        };
        let ((first, few), (longer, many)) = (after(3), after(500));
        assert_eq!((&first[..], few), (&longer[..3], many.clone()));
        assert!(longer[..100] != many[..], "each start has its own arrivals");
        assert_eq!(after(0).1, longer[..100], "a schedule that is not used yet stays as it is");
    }

    /// Combines the parts of three load generators, which have 1, 3 and 2 threads.
    #[test]
    fn parts_interleave_to_one_schedule() {
        let profile = Profile::new(vec![Segment { duration_s: 1.0, from_rps: 100.0, to_rps: 300.0 }]);
        let times = |place, places| arrivals_s(&mut Schedule::new(profile.clone(), Arrivals::Constant, place, places, 0), 1.0);
        let mut joined = Vec::new();
        for (index, threads) in [1, 3, 2].into_iter().enumerate() {
            let part = Part::new(index as u32, 3).unwrap();
            joined.extend((0..threads).flat_map(|thread| times(part.thread(thread), part.threads(threads).unwrap())));
        }
        joined.sort_by(f64::total_cmp);
        assert_eq!(joined, times(0, 1));
    }

    #[test]
    fn poisson_parts_differ_and_make_their_share_of_the_rate() {
        let part = |index| arrivals_s(&mut Schedule::new(Profile::constant(1000.0), Arrivals::Poisson, index, 4, 7), 100.0);
        let parts: Vec<_> = (0..4).map(part).collect();
        for (index, times) in parts.iter().enumerate() {
            assert!((times.len() as f64 - 25_000.0).abs() < 5.0 * 25_000f64.sqrt(), "{}", times.len());
            assert!(parts[..index].iter().all(|other| other[0] != times[0]));
        }
    }

    #[test]
    fn a_ramp_offers_its_integral() {
        let profile = Profile::new(vec![Segment { duration_s: 10.0, from_rps: 100.0, to_rps: 300.0 }]).after_warmup(Duration::from_secs(2));
        let times = arrivals_s(&mut Schedule::new(profile.clone(), Arrivals::Constant, 0, 1, 0), 14.0);
        for until_s in [1.0, 2.0, 7.0, 12.0, 13.0] {
            let seen = times.iter().filter(|at| **at < until_s).count() as f64;
            assert!((seen - profile.requests_until(until_s)).abs() <= 1.0, "{seen} until {until_s}");
        }
        assert!((profile.requests_until(14.0) - (200.0 + 2000.0 + 600.0)).abs() < 1e-6);
    }

    #[test]
    fn poisson_arrivals_have_the_right_rate_and_variance() {
        let times = arrivals_s(&mut Schedule::new(Profile::constant(1000.0), Arrivals::Poisson, 0, 1, 7), 100.0);
        let count = times.len() as f64;
        assert!((count - 100_000.0).abs() < 5.0 * 100_000f64.sqrt(), "{count}");
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02);
    }
}

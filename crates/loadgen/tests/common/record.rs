//! Times that a test server records itself, to compare with those that the load generator reports.
//!
//! Other programs delay the server's threads and the load generator alike. So each server also records how late its own threads wake up, and
//! the permitted error grows with that, and with the time for which the load generator waited for a CPU. An error of the load generator
//! itself changes neither.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use loadgen::figures::result::RunResult;
use loadgen::time::clock::now_ns;

/// Maximum error on an idle machine, in microseconds. A thread needs about a fifth of that to wake up.
const ERROR_MAX_US: f64 = 300.0;
/// Maximum error as a multiple of the upper quartile of the times by which the server's threads were late.
const LATE_MAX: f64 = 3.0;

/// Times in nanoseconds.
#[derive(Debug, Default)]
pub struct Times(Mutex<Vec<u64>>);

impl Times {
    fn all(&self) -> MutexGuard<'_, Vec<u64>> {
        self.0.lock().expect("no thread panics while it holds the lock")
    }

    pub fn push(&self, time_ns: u64) {
        self.all().push(time_ns);
    }

    /// Sleeps until a time of the monotonic clock, records by how much the thread is late, and returns the time.
    pub fn sleep_until(&self, due_ns: u64) -> u64 {
        std::thread::sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns())));
        let woken_ns = now_ns();
        self.push(woken_ns.saturating_sub(due_ns));
        woken_ns
    }

    /// Returns these times minus `start_ns`.
    pub fn since(&self, start_ns: u64) -> Self {
        Self(Mutex::new(self.all().iter().map(|time_ns| time_ns - start_ns).collect()))
    }

    /// Returns a quantile in microseconds.
    pub fn quantile_us(&self, share: f64) -> f64 {
        let mut times = self.all();
        times.sort_unstable();
        times[((times.len() - 1) as f64 * share) as usize] as f64 / 1e3
    }

    /// Returns the maximum error of a load generator's times if these are the times by which the server's threads were late.
    pub fn error_max_us(&self, waiting_us: f64) -> f64 {
        ERROR_MAX_US.max(LATE_MAX * self.quantile_us(0.75)) + waiting_us
    }
}

/// Returns the time for which a load thread was ready to run but had no CPU, according to the kernel.
pub fn waiting_us(result: &RunResult) -> f64 {
    result.generator.waiting.unwrap_or(0.0) * result.duration_s * 1e6
}

/// Checks that a reported quantile is that of the recorded times.
pub fn assert_quantile(reported_us: Option<f64>, recorded: &Times, share: f64, error_max_us: f64, what: &str) {
    let (reported_us, recorded_us) = (reported_us.expect("enough samples"), recorded.quantile_us(share));
    assert!(
        (reported_us - recorded_us).abs() <= error_max_us,
        "{what}: {reported_us} us, but {recorded_us} us according to the server, and {error_max_us} us more or less are permitted"
    );
}

/// Checks the reported minimum and lower quartile of times. Delays by other programs make times longer, so they hardly change the minimum,
/// and change the lower quartile less than the median.
pub fn assert_times(reported_us: [Option<f64>; 2], recorded: &Times, error_max_us: f64, what: &str) {
    for (reported_us, share) in reported_us.into_iter().zip([0.0, 0.25]) {
        assert_quantile(reported_us, recorded, share, error_max_us, &format!("{what}, quantile {share}"));
    }
}

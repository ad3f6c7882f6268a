//! The histogram that every time is recorded in.

use std::time::Duration;

use hdrhistogram::Histogram;

/// No duration is longer: histograms hold times up to this.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Longer times are recorded as this.
pub const LONGEST_NS: u64 = LONGEST.as_nanos() as u64;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram of nanoseconds from 1 ns to 24 hours, three significant digits: about 310 KB, whatever it holds.
pub fn new_histogram() -> Histogram<u64> {
    match Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("the bounds are constants that hdrhistogram accepts: {error}"),
    }
}

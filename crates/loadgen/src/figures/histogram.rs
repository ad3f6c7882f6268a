//! The histogram type used for all recorded times.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that a histogram can hold.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// `LONGEST` in nanoseconds. Longer times are recorded as this value.
pub const LONGEST_NS: u64 = LONGEST.as_nanos() as u64;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Creates a histogram for 1 ns to 24 hours with three significant digits. Regardless of its contents, it takes about 310 KB.
pub fn new_histogram() -> Histogram<u64> {
    match Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("hdrhistogram rejected constant bounds: {error}"),
    }
}

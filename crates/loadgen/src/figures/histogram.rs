//! The histogram type used for all recorded times, and what is computed from histograms.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that a histogram can hold.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// `LONGEST` in nanoseconds. Longer times are recorded as this value.
pub const LONGEST_NS: u64 = LONGEST.as_nanos() as u64;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Creates a histogram for 1 ns to 24 hours with three significant digits. Regardless of its contents, it takes about 310 KB. hdrhistogram
/// writes all of this memory, so recording causes no page faults.
pub fn new_histogram() -> Histogram<u64> {
    up_to(LONGEST_NS)
}

/// Creates a small histogram for times that are never recorded.
pub(super) fn unused_histogram() -> Histogram<u64> {
    up_to(2)
}

fn up_to(longest_ns: u64) -> Histogram<u64> {
    match Histogram::new_with_bounds(1, longest_ns, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("hdrhistogram rejected constant bounds: {error}"),
    }
}

/// Returns the 99th percentile, or 0 if there are no samples.
pub(super) fn p99_ns(histogram: &Histogram<u64>) -> u64 {
    if histogram.is_empty() { 0 } else { histogram.value_at_percentile(99.0) }
}

/// Adds one histogram to another. Skips empty histograms, because the cost of adding doesn't depend on the number of values.
pub(super) fn add(mine: &mut Histogram<u64>, theirs: &Histogram<u64>) {
    if !theirs.is_empty() {
        mine.add(theirs).unwrap_or_else(|error| unreachable!("histograms with equal bounds cannot be merged: {error}"));
    }
}

/// Adds the values of `ages` above `beyond_ns` to `to`. Returns their count and sum.
pub(super) fn add_beyond(to: &mut Histogram<u64>, ages: &Histogram<u64>, beyond_ns: u64) -> (u64, u64) {
    let mut added = (0, 0);
    for step in ages.iter_recorded().filter(|step| step.value_iterated_to() > beyond_ns) {
        // Use the lower edge of the bucket, because a lower bound must not be rounded up.
        let (age_ns, count) = (ages.lowest_equivalent(step.value_iterated_to()), step.count_at_value());
        to.saturating_record_n(age_ns, count);
        added = (added.0 + count, added.1 + to.median_equivalent(age_ns) * count); // the histogram's mean uses the same value
    }
    added
}

//! Percentiles and trimmed means of a histogram.

use hdrhistogram::Histogram;

/// Minimum number of samples beyond a percentile. With fewer samples, the percentile mostly reflects chance, so it is omitted.
const SAMPLES_BEYOND_MIN: f64 = 10.0;

/// Returns the percentile in microseconds, or `None` if there are fewer than ten samples beyond it.
pub fn percentile_us(histogram: &Histogram<u64>, percentile: f64) -> Option<f64> {
    let beyond = histogram.len() as f64 * (100.0 - percentile) / 100.0;
    // The tolerance allows for rounding errors. 1% of 1000 samples must count as ten samples, but floating-point numbers can't represent 1%
    // exactly.
    (beyond >= SAMPLES_BEYOND_MIN - 1e-6).then(|| histogram.value_at_percentile(percentile) as f64 / 1e3)
}

/// Returns the mean without the lowest and the highest `share` of the samples.
pub fn trimmed_mean_ns(histogram: &Histogram<u64>, share: f64) -> f64 {
    let trimmed = (histogram.len() as f64 * share).floor() as u64;
    let (from, to) = (trimmed, histogram.len() - trimmed);
    let (mut seen, mut sum) = (0, 0.0);
    for step in histogram.iter_recorded() {
        let (first, last) = (seen, seen + step.count_at_value());
        let kept = last.min(to).saturating_sub(first.max(from));
        sum += kept as f64 * histogram.median_equivalent(step.value_iterated_to()) as f64;
        seen = last;
    }
    sum / (to - from).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::histogram::new_histogram;

    #[test]
    fn the_trimmed_mean_ignores_both_ends() {
        let mut histogram = new_histogram();
        histogram.record_n(1_000, 2).unwrap();
        histogram.record_n(500_000, 1_996).unwrap();
        histogram.record_n(900_000_000, 2).unwrap();
        assert!((trimmed_mean_ns(&histogram, 0.001) / 500_000.0 - 1.0).abs() < 0.001);
    }
}

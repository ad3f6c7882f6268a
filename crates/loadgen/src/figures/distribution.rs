//! Summary statistics, in microseconds, of a histogram in nanoseconds.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

use super::encoding::{decode, encode};
use super::percentiles::{percentile_us, trimmed_mean_ns};

/// The share of the lowest and of the highest samples that `tm99_9` ignores.
const TRIMMED_SHARE: f64 = 0.001;

/// A distribution of times, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Distribution {
    /// Number of samples.
    pub count: u64,
    /// Minimum, in microseconds; null without samples.
    pub min: Option<f64>,
    /// Mean, in microseconds; null without samples.
    pub mean: Option<f64>,
    /// Standard deviation, in microseconds; null without samples.
    pub stddev: Option<f64>,
    /// Maximum, in microseconds; null without samples.
    pub max: Option<f64>,
    /// Mean without the lowest and highest 0.1% of samples, in microseconds; null without samples.
    pub tm99_9: Option<f64>,
    /// p25, in microseconds; null with fewer than ten samples beyond it.
    pub p25: Option<f64>,
    /// p50, in microseconds; null with fewer than ten samples beyond it.
    pub p50: Option<f64>,
    /// p75, in microseconds; null with fewer than ten samples beyond it.
    pub p75: Option<f64>,
    /// p90, in microseconds; null with fewer than ten samples beyond it.
    pub p90: Option<f64>,
    /// p95, in microseconds; null with fewer than ten samples beyond it.
    pub p95: Option<f64>,
    /// p99, in microseconds; null with fewer than ten samples beyond it.
    pub p99: Option<f64>,
    /// p99.9, in microseconds; null with fewer than ten samples beyond it.
    pub p99_9: Option<f64>,
    /// p99.99, in microseconds; null with fewer than ten samples beyond it.
    pub p99_99: Option<f64>,
    /// Histogram in nanoseconds: HdrHistogram V2, compressed, in base64.
    pub histogram: String,
}

impl From<&Histogram<u64>> for Distribution {
    fn from(histogram: &Histogram<u64>) -> Self {
        let some = |value_ns: f64| (!histogram.is_empty()).then_some(value_ns / 1e3);
        let at = |percentile| percentile_us(histogram, percentile);
        Self {
            count: histogram.len(),
            min: some(histogram.min() as f64),
            mean: some(histogram.mean()),
            stddev: some(histogram.stdev()),
            max: some(histogram.max() as f64),
            tm99_9: some(trimmed_mean_ns(histogram, TRIMMED_SHARE)),
            p25: at(25.0),
            p50: at(50.0),
            p75: at(75.0),
            p90: at(90.0),
            p95: at(95.0),
            p99: at(99.0),
            p99_9: at(99.9),
            p99_99: at(99.99),
            histogram: encode(histogram),
        }
    }
}

impl Distribution {
    /// Returns the histogram, in nanoseconds, that these statistics were computed from.
    pub fn histogram(&self) -> anyhow::Result<Histogram<u64>> {
        decode(&self.histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::histogram::new_histogram;

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        let mut histogram = new_histogram();
        for value in 1..=1000 {
            histogram.saturating_record(value * 1000);
        }
        let summary = Distribution::from(&histogram);
        assert_eq!(summary.count, 1000);
        assert!((summary.p99.unwrap_or(0.0) - 990.0).abs() < 2.0);
        assert_eq!((summary.p99_9, summary.p99_99), (None, None));
        assert!((summary.mean.unwrap_or(0.0) - 500.5).abs() < 1.0);
        assert!((summary.tm99_9.unwrap_or(0.0) - 500.5).abs() < 1.0);
    }

    #[test]
    fn an_empty_histogram_has_no_statistics() {
        let summary = Distribution::from(&new_histogram());
        assert_eq!((summary.count, summary.min, summary.mean, summary.p50, summary.tm99_9), (0, None, None, None, None));
    }
}

//! From a histogram of nanoseconds to the figures that are shown, in microseconds.

use base64::Engine as _;
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use schemars::JsonSchema;
use serde::Serialize;

use crate::recorder::{LONGEST_NS, new_histogram};

/// A percentile with fewer samples beyond it says more of chance than of the server, and is left out.
const SAMPLES_BEYOND_MIN: f64 = 10.0;
/// `tm99_9` leaves out this share of the values at either end.
const TRIMMED_SHARE: f64 = 0.001;
/// What a compressed histogram begins with: version 2, words of any length.
const V2_COMPRESSED_COOKIE: u32 = 0x1c84_9314;
/// By how many bytes the place for a compressed histogram grows; most need less.
const COMPRESSED_STEP: usize = 4096;

/// A distribution of times, in microseconds. Percentiles with fewer than ten samples beyond them are null, as is everything without samples.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Distribution {
    pub count: u64,
    pub min: Option<f64>,
    pub mean: Option<f64>,
    pub stddev: Option<f64>,
    pub max: Option<f64>,
    /// Mean without the lowest and the highest 0.1 % of values.
    pub tm99_9: Option<f64>,
    pub p25: Option<f64>,
    pub p50: Option<f64>,
    pub p75: Option<f64>,
    pub p90: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub p99_9: Option<f64>,
    pub p99_99: Option<f64>,
    /// HdrHistogram V2, compressed, in base64; its values are nanoseconds.
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
    /// The histogram in nanoseconds that the figures were taken from.
    pub fn histogram(&self) -> anyhow::Result<Histogram<u64>> {
        decode(&self.histogram)
    }
}

/// The opposite of `encode`.
pub fn decode(text: &str) -> anyhow::Result<Histogram<u64>> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| anyhow::anyhow!("not a histogram: {error:?}"))
}

/// The percentile in microseconds, if at least ten samples lie beyond it.
pub fn percentile_us(histogram: &Histogram<u64>, percentile: f64) -> Option<f64> {
    let beyond = histogram.len() as f64 * (100.0 - percentile) / 100.0;
    // The share is a decimal fraction that binary cannot hold: 1 % of 1000 must pass as ten.
    (beyond >= SAMPLES_BEYOND_MIN - 1e-6).then(|| histogram.value_at_percentile(percentile) as f64 / 1e3)
}

/// The mean without `share` of the values at either end.
fn trimmed_mean_ns(histogram: &Histogram<u64>, share: f64) -> f64 {
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

/// HdrHistogram V2, compressed, in base64.
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut text = String::new();
    Encoder::default().encode(histogram, &mut text);
    text
}

/// The same for many, with one compressor and one set of buffers.
pub struct Encoder {
    serializer: V2Serializer,
    compressor: Compress,
    plain: Vec<u8>,
    bytes: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        let compressor = Compress::new(Compression::default(), true);
        Self { serializer: V2Serializer::new(), compressor, plain: Vec::new(), bytes: Vec::new() }
    }
}

impl Encoder {
    /// One that has met a value of every size, and so needs no more memory later.
    pub fn primed() -> Self {
        let mut full = new_histogram();
        let mut value = 1;
        while value < LONGEST_NS {
            full.saturating_record(value);
            value = full.next_non_equivalent(value);
        }
        let mut encoder = Self::default();
        encoder.encode(&full, &mut String::new());
        encoder
    }

    /// Appends the histogram to a text.
    pub fn encode(&mut self, histogram: &Histogram<u64>, text: &mut String) {
        self.plain.clear();
        if let Err(error) = self.serializer.serialize(histogram, &mut self.plain) {
            unreachable!("writing a histogram to memory cannot fail: {error}");
        }
        self.compress();
        base64::engine::general_purpose::STANDARD.encode_string(&self.bytes, text);
    }

    /// Cookie, length and zlib's data, as in the class «Histogram» of HdrHistogram in Java (`encodeIntoCompressedByteBuffer`).
    fn compress(&mut self) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&V2_COMPRESSED_COOKIE.to_be_bytes());
        self.bytes.extend_from_slice(&[0; 4]);
        self.compressor.reset();
        loop {
            self.bytes.reserve(COMPRESSED_STEP);
            let rest = &self.plain[self.compressor.total_in() as usize..];
            match self.compressor.compress_vec(rest, &mut self.bytes, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => break,
                Ok(_) => {}
                Err(error) => unreachable!("compressing memory cannot fail: {error}"),
            }
        }
        let length = self.bytes.len() as u32 - 8;
        self.bytes[4..8].copy_from_slice(&length.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_need_ten_samples_beyond() {
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
    fn the_trimmed_mean_leaves_out_both_ends() {
        let mut histogram = new_histogram();
        histogram.record_n(1_000, 2).unwrap();
        histogram.record_n(500_000, 1_996).unwrap();
        histogram.record_n(900_000_000, 2).unwrap();
        assert!((trimmed_mean_ns(&histogram, TRIMMED_SHARE) / 500_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn without_samples_there_are_no_figures() {
        let summary = Distribution::from(&new_histogram());
        assert_eq!((summary.count, summary.min, summary.mean, summary.p50, summary.tm99_9), (0, None, None, None, None));
    }

    #[test]
    fn one_encoder_writes_many_histograms_of_any_size() {
        let mut encoder = Encoder::default();
        let mut state = 1_u64;
        for values in [0, 1, 100_000, 10] {
            let mut histogram = new_histogram();
            for _ in 0..values {
                let bits = state >> 59;
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                histogram.saturating_record((state >> 24) >> bits);
            }
            let mut text = String::new();
            encoder.encode(&histogram, &mut text);
            let bytes = base64::engine::general_purpose::STANDARD.decode(&text).unwrap();
            let read: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            assert!(values < 100_000 || bytes.len() > COMPRESSED_STEP);
            assert_eq!(read, histogram);
        }
    }
}

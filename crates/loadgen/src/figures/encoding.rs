//! Encodes histograms as text (compressed HdrHistogram V2 in base64), and decodes them.

use base64::Engine as _;
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use super::histogram::{LONGEST_NS, new_histogram};

/// The first four bytes of a compressed histogram: encoding version 2, with variable-length integers.
const V2_COMPRESSED_COOKIE: u32 = 0x1c84_9314;
/// Number of bytes by which the output buffer grows. Most histograms need only one step.
const COMPRESSED_STEP: usize = 4096;

/// Encodes a histogram as compressed HdrHistogram V2 in base64.
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut text = String::new();
    Encoder::default().encode(histogram, &mut text);
    text
}

/// Decodes the output of `encode`.
pub fn decode(text: &str) -> anyhow::Result<Histogram<u64>> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| anyhow::anyhow!("not a histogram: {error:?}"))
}

/// A histogram encoder that reuses its compressor and buffers.
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
    /// Creates an encoder whose buffers fit the largest possible histogram, so that it allocates no memory later.
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

    /// Appends the encoded histogram to `text`.
    pub fn encode(&mut self, histogram: &Histogram<u64>, text: &mut String) {
        self.plain.clear();
        if let Err(error) = self.serializer.serialize(histogram, &mut self.plain) {
            unreachable!("writing a histogram to memory cannot fail: {error}");
        }
        self.compress();
        base64::engine::general_purpose::STANDARD.encode_string(&self.bytes, text);
    }

    /// Writes the cookie, the length and the zlib data, like `Histogram.encodeIntoCompressedByteBuffer` in HdrHistogram for Java.
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
    fn one_encoder_encodes_histograms_of_any_size() {
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

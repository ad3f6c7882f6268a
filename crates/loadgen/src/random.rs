//! Reproducible pseudorandom numbers.

/// Applies one round of splitmix64 (Steele, Lea and Flood, 2014). Similar inputs get very different outputs.
fn spread(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A xorshift64* generator (Vigna, 2016). Its quality is sufficient for arrival times and placeholders, and the same seed always gives the
/// same numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(spread(seed).max(1)) // the algorithm requires a nonzero state
    }

    /// Creates the generator for one thread. The seed is mixed before the thread number is added. Otherwise, thread 1 with seed 7 and
    /// thread 0 with seed 8 would get the same numbers.
    pub fn of_thread(seed: u64, thread: u32) -> Self {
        Self::new(spread(seed).wrapping_add(u64::from(thread)))
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a random number from the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        let uniform = ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        -uniform.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_neighboring_seeds_differ() {
        let first = |(seed, thread)| Random::of_thread(seed, thread).next_u64();
        let streams: std::collections::HashSet<_> =
            (0..100).flat_map(|seed| (0..64).map(move |thread| (seed, thread))).map(first).collect();
        assert_eq!(streams.len(), 6400);
    }
}

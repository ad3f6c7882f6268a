//! One load generator's part of a load. Several load generators, usually on different hosts, produce the whole load together.
//!
//! Each load generator gets the rate of the whole load. The threads of all parts take turns, so together they follow exactly the schedule
//! of a single load generator.

use std::fmt;

/// Upper limit on the number of parts.
pub const PARTS_MAX: u32 = 100_000;

/// One of `count` equal parts of a load. `index` counts from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    index: u32,
    count: u32,
}

impl Part {
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Returns part `index` (from 0) of `count`, or `None` if the numbers are invalid.
    pub fn new(index: u32, count: u32) -> Option<Self> {
        (index < count && count <= PARTS_MAX).then_some(Self { index, count })
    }

    /// Returns the number of parts.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns the index of a thread of this part among the threads of all parts.
    pub fn thread(self, thread: u32) -> u32 {
        thread * self.count + self.index
    }

    /// Returns the total number of threads for parts with `threads` threads each, or `None` on overflow.
    pub fn threads(self, threads: u32) -> Option<u32> {
        threads.checked_mul(self.count)
    }

    /// Returns this part's share of a number of requests. The shares of all parts add up to that number.
    pub fn share(self, requests: u64) -> u64 {
        let count = u64::from(self.count);
        requests / count + u64::from(u64::from(self.index) < requests % count)
    }
}

/// Formats the part as on the command line, counting from 1.
impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index + 1, self.count)
    }
}

/// Parses a part such as `3/8`, the third of eight.
pub fn parse_part(text: &str) -> Result<Part, String> {
    let numbers = text.split_once('/').and_then(|(index, count)| Some((index.parse::<u32>().ok()?, count.parse::<u32>().ok()?)));
    let part = numbers.and_then(|(index, count)| Part::new(index.checked_sub(1)?, count));
    part.ok_or_else(|| format!("`{text}` is not a part; write 3/8 for the third of eight parts (at most {PARTS_MAX})"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_count_from_one_in_text() {
        assert_eq!(parse_part("3/8"), Ok(Part { index: 2, count: 8 }));
        assert_eq!(parse_part("3/8").map(|part| part.to_string()), Ok("3/8".to_owned()));
        assert_eq!(parse_part("1/1"), Ok(Part::WHOLE));
        for bad in ["", "3", "0/8", "9/8", "1/0", "-1/8", "1/100001", "1/8/9", "a/b"] {
            assert!(parse_part(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn shares_add_up_to_the_whole(requests in 0..u64::MAX / 2, count in 1..200u32) {
            let shares: Vec<_> = (0..count).filter_map(|index| Part::new(index, count)).map(|part| part.share(requests)).collect();
            prop_assert_eq!(shares.iter().sum::<u64>(), requests);
            prop_assert!(shares.iter().max().zip(shares.iter().min()).is_some_and(|(most, least)| most - least <= 1));
        }

        /// Parts may have different numbers of threads.
        #[test]
        fn no_two_threads_share_an_index(threads in prop::collection::vec(1..8u32, 1..20)) {
            let count = threads.len() as u32;
            let parts = (0..count).filter_map(|index| Part::new(index, count)).zip(&threads);
            let places: Vec<_> = parts.flat_map(|(part, threads)| (0..*threads).map(move |thread| part.thread(thread))).collect();
            let different: std::collections::HashSet<_> = places.iter().collect();
            prop_assert_eq!(different.len(), places.len());
        }
    }
}

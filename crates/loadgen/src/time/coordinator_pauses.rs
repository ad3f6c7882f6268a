//! Where the coordinator gives way to the load.
//!
//! On a shared core its work comes out of the time of a load thread, and a request that falls due meanwhile is late by what is left of
//! it. So it handles one histogram at a time, tens of microseconds of work, and sleeps in between.

use std::time::Duration;

/// Time for a load thread that was held up to catch up.
const LONGEST: Duration = Duration::from_micros(200);
/// The kernel may make any sleep longer by so much: below it, pauses would not be what they cost.
const SHORTEST: Duration = Duration::from_micros(50);
/// At most so much of each interval: one part of how many.
const SHARE: u32 = 4;

/// Pauses between the pieces of work that come up in each interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pauses {
    each: Duration,
}

impl Pauses {
    /// So many that they take no more than their share of an interval; none at all where that leaves no time for each.
    pub fn new(interval: Duration, pieces: u32) -> Self {
        let each = (interval / SHARE / pieces.max(1)).min(LONGEST);
        Self { each: if each < SHORTEST { Duration::ZERO } else { each } }
    }

    pub fn pause(self) {
        std::thread::sleep(self.each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(100);

    #[test]
    fn pauses_never_take_more_than_their_share() {
        for pieces in 0..5000 {
            assert!(Pauses::new(INTERVAL, pieces).each * pieces <= INTERVAL / SHARE, "{pieces} pieces");
        }
    }

    #[test]
    fn a_few_pieces_have_full_pauses_and_too_many_have_none() {
        assert_eq!(Pauses::new(INTERVAL, 16).each, LONGEST);
        assert_eq!(Pauses::new(INTERVAL, 5000).each, Duration::ZERO);
    }
}

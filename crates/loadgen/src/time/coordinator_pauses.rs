//! Pauses during which the coordinator yields the CPU to load threads.
//!
//! If the coordinator and a load thread share a core, the coordinator's work delays requests that are due. The coordinator therefore
//! handles one histogram at a time, which takes tens of microseconds, and sleeps in between.

use std::time::Duration;

/// Maximum length of a pause. A delayed load thread can catch up within this time.
const LONGEST: Duration = Duration::from_micros(200);
/// Minimum length of a pause. The kernel may extend any sleep by up to this time, so shorter pauses would take much longer than planned.
const SHORTEST: Duration = Duration::from_micros(50);
/// Divisor that limits the pauses: together, they take at most `1 / SHARE` of each interval.
const SHARE: u32 = 4;

/// The length of the pauses between pieces of work. Each interval has the same number of pieces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pauses {
    each: Duration,
}

impl Pauses {
    pub const NONE: Self = Self { each: Duration::ZERO };

    /// Chooses the length of the pauses so that all of them fit into their share of the interval. If the pauses would be shorter than
    /// `SHORTEST`, there are no pauses.
    pub fn new(interval: Duration, pieces: u32) -> Self {
        let each = (interval / SHARE / pieces.max(1)).min(LONGEST);
        Self { each: if each < SHORTEST { Duration::ZERO } else { each } }
    }

    pub fn pause(self) {
        std::thread::sleep(self.each); // returns at once if there are no pauses
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
    fn few_pieces_have_full_pauses_and_too_many_have_none() {
        assert_eq!(Pauses::new(INTERVAL, 16).each, LONGEST);
        assert_eq!(Pauses::new(INTERVAL, 5000).each, Duration::ZERO);
    }
}

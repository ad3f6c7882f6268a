//! When: the clock, the schedule of the open loop, and the window that is measured.

pub mod clock;
pub mod pauses;
pub mod profile;
pub mod schedule;
pub mod window;

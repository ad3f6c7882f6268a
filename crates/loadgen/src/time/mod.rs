//! When: the clock, the schedule of the open loop, and the window that is measured.

pub mod arrivals;
pub mod clock;
pub mod coordinator_pauses;
pub mod offered_rate;
pub mod part;
pub mod window;

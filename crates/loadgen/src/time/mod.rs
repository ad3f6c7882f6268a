//! The clock, the schedule of an open loop, and the measured window.

pub mod arrivals;
pub mod clock;
pub mod coordinator_pauses;
pub mod offered_rate;
pub mod part;
pub mod window;

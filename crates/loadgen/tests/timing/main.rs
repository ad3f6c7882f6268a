//! Tests of timing: schedules, pauses, windows and response times.

#[path = "../common/mod.rs"]
mod common;

mod event_streams;
mod first_byte;
mod open_loop;
mod own_pauses;
mod response_delay;
mod slices;
mod together;
mod truth;
mod waking;
mod window_edges;

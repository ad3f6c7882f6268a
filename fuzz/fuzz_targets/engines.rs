//! Fuzzes both engines against scripted servers: `fuzz/run`, or `cargo fuzz run engines`.
//!
//! `WAY` selects the protocol: 0 HTTP/1.1, 1 HTTP/2, 2 HTTP/1.1 over TLS, 3 HTTP/2 over TLS. Without it, the input chooses.

#![no_main]

#[path = "../engines/mod.rs"]
mod engines;

use std::sync::LazyLock;

static WAY: LazyLock<Option<u8>> = LazyLock::new(|| std::env::var("WAY").ok()?.parse().ok());

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut input = input.to_vec();
    if let (Some(first), Some(way)) = (input.first_mut(), *WAY) {
        *first = *first & !3 | way & 3;
    }
    engines::check(&input);
});

//! Fuzzes both engines against servers that play scripts: `fuzz/run` or `cargo fuzz run engines`.
//!
//! `WAY` selects the protocol: 0 for HTTP/1.1, 1 for HTTP/2, 2 for HTTP/1.1 over TLS, 3 for HTTP/2 over TLS. By default, the input selects
//! the protocol.

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

//! Fuzzes the HTTP/1.1 response parser: `cargo fuzz run response`.

#![no_main]

#[path = "../check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|input: &[u8]| check::response(input));

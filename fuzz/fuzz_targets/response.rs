//! Fuzzes the parser of HTTP/1.1 responses: `cargo fuzz run response`.

#![no_main]

#[path = "../check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|input: &[u8]| check::response(input));

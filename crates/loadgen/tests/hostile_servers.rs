//! Tests with servers that behave according to random scripts: a short version of `fuzz/run`, and a replay of its corpus.

#[path = "../../../fuzz/engines/mod.rs"]
mod engines;

use proptest::prelude::*;

/// Number of cases for each of the four protocol combinations.
const CASES: u32 = 60;
const BYTES_MAX: usize = 60;

const HTTP2: u8 = 1;
const TLS: u8 = 2;

/// Runs random scripts with one combination of protocols.
fn try_scripts(way: u8) {
    let config = ProptestConfig { cases: CASES, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() };
    proptest!(config, |(mut bytes in prop::collection::vec(any::<u8>(), 1..BYTES_MAX))| {
        bytes[0] = bytes[0] & !(HTTP2 | TLS) | way;
        engines::check(&bytes);
    });
}

#[test]
fn http1() {
    try_scripts(0);
}

#[test]
fn http2() {
    try_scripts(HTTP2);
}

#[test]
#[ignore = "takes many seconds; make test-all runs it"]
fn http1_over_tls() {
    try_scripts(TLS);
}

#[test]
#[ignore = "takes many seconds; make test-all runs it"]
fn http2_over_tls() {
    try_scripts(HTTP2 | TLS);
}

#[test]
fn well_behaved_servers_are_correct() {
    // Each digit makes one choice in the script. In this order, they choose the socket and protocol, connections, pipeline, reuse, request,
    // pace, response, framing, and the behavior after the steps.
    let choices = ["0", "1", "2", "3", "4", "5", "6", "7"].iter().flat_map(|way| {
        ["17000000", "00000630", "30110410", "00200020", "12303030", "00000300", "00030000", "11021400"].map(|rest| format!("{way}{rest}"))
    });
    for choice in choices {
        let script = engines::Script::read(choice.as_bytes());
        assert!(script.is_good(), "{choice}");
        engines::check(choice.as_bytes());
    }
}

#[test]
fn the_corpus_finds_no_bugs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/engines");
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is committed") {
        let path = entry.expect("the folder is readable").path();
        let input = std::fs::read(&path).expect("the file is readable");
        println!("{}", path.display());
        engines::check(&input);
        inputs += 1;
    }
    assert!(inputs >= 20, "{inputs} inputs");
}

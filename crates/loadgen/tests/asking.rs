//! Answers that the io_uring engine asks for instead of waiting for them in the kernel: heard all, and in time, in whatever order they come.

mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::stalls::{self, Due};
use common::{load, url};
use loadgen::result::RunResult;

/// Attempts that a machine busy with other things may spoil.
const ATTEMPTS: usize = 4;
const LIFETIME: Duration = Duration::from_secs(3);

/// Load for a second on a server that answers as `due` says.
fn attempt(connections: &str, due: Due) -> RunResult {
    let (address, _) = stalls::serve(due, LIFETIME);
    load_for_a_second(connections, address)
}

fn load_for_a_second(connections: &str, address: SocketAddr) -> RunResult {
    let result = load(&["-c", connections, "-d", "1s", "--engine", "io_uring", &url(address)]).expect("the server answers");
    assert_eq!(result.errors.total(), 0, "{:?}", result.errors);
    assert_eq!(result.requests.completed, result.requests.ok);
    result
}

fn asked(result: &RunResult) -> f64 {
    let asked: u64 = result.generator.threads.iter().map(|thread| thread.asked).sum();
    asked as f64 / result.requests.completed as f64
}

fn answers_that_follow_each_other_closely_are_asked_for() {
    let shares: Vec<_> = (0..ATTEMPTS).map(|_| asked(&attempt("16", Box::new(|arrival_ns, _| arrival_ns)))).collect();
    assert!(shares.iter().any(|share| *share > 0.0), "{shares:?}");
}

/// Every second connection is answered at once, the others after 20 ms: the quick answers must not be heard with the slow ones.
fn answers_that_overtake_others_are_heard_in_time() {
    let p50_us: Vec<_> = (0..ATTEMPTS)
        .map(|_| attempt("16", Box::new(|arrival_ns, client| arrival_ns + (client as u64 % 2) * 20_000_000)))
        .map(|result| result.service_time_us.p50.expect("there are enough"))
        .collect();
    assert!(p50_us.iter().any(|p50_us| *p50_us < 2_000.0), "{p50_us:?}");
}

fn answers_that_are_long_in_coming_are_waited_for() {
    assert_eq!(asked(&attempt("4", Box::new(|arrival_ns, _| arrival_ns + 5_000_000))), 0.0);
}

/// The engine hears some of them piece by piece.
fn answers_that_come_in_pieces_are_put_together() {
    let results = (0..ATTEMPTS).map(|_| {
        let (address, _) = stalls::serve_in_pieces(Box::new(|arrival_ns, _| arrival_ns), LIFETIME, 16);
        load_for_a_second("16", address)
    });
    let shares: Vec<_> = results.map(|result| asked(&result)).collect();
    assert!(shares.iter().any(|share| *share > 0.0), "{shares:?}");
}

/// One after the other: side by side they would disturb each other.
#[test]
fn answers_are_asked_for_where_that_pays() {
    answers_that_follow_each_other_closely_are_asked_for();
    answers_that_overtake_others_are_heard_in_time();
    answers_that_come_in_pieces_are_put_together();
    answers_that_are_long_in_coming_are_waited_for();
}

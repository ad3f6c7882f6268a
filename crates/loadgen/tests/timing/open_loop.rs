//! Tests that an open loop follows its schedule and accounts for every scheduled request.

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use crate::common::{each_engine, load, read_request, serve, url};
use loadgen::figures::result::RunResult;

/// Starts a server that responds to each request after `delay`.
fn serve_slowly(delay: Duration) -> SocketAddr {
    serve(move |mut stream| {
        while read_request(&mut stream) {
            std::thread::sleep(delay);
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                return;
            }
        }
    })
}

fn run(address: SocketAddr, engine: &str, args: &[&str]) -> RunResult {
    let result = load(&[args, &["--engine", engine, &url(address)]].concat()).expect("the run succeeds");
    assert_eq!(result.requests.sent, result.requests.completed + result.requests.in_flight, "{:?}", result.requests);
    result
}

#[test]
fn every_scheduled_request_is_sent_or_counted_as_unsent() {
    each_engine(|engine| {
        let result = run(serve_slowly(Duration::from_millis(20)), engine, &["-r", "1k", "-c", "2", "-t", "2", "-d", "500ms"]);
        assert_eq!(result.requests.offered, Some(500));
        assert_eq!(result.requests.sent + result.requests.unsent, 500, "{:?}", result.requests);
        assert!(result.requests.unsent > 350, "two connections can carry at most fifty requests: {:?}", result.requests);
        let lag = result.schedule_lag_us.expect("an open loop has a lag");
        assert!(lag.max > Some(250_000.0), "waiting for a connection counts as lag: {:?}", lag.max);
    });
}

#[test]
fn requests_beyond_the_deadline_are_dropped_and_counted() {
    each_engine(|engine| {
        let result = run(serve_slowly(Duration::from_millis(20)), engine, &["-r", "1k", "-c", "2", "-d", "500ms", "--deadline", "50ms"]);
        let accounted = result.requests.sent + result.requests.unsent + result.errors.not_sent;
        assert_eq!(accounted, 500, "{:?} {:?}", result.requests, result.errors);
        assert!(result.errors.not_sent > 200 && result.errors.not_sent == result.errors.total(), "{:?}", result.errors);
        let lag = result.schedule_lag_us.expect("an open loop has a lag");
        assert!(lag.max < Some(60_000.0), "sent requests are within the deadline: {:?}", lag.max);
    });
}

#[test]
fn the_seed_determines_poisson_arrivals() {
    let address = serve_slowly(Duration::ZERO);
    let args = ["-r", "2k", "--arrivals", "poisson", "--seed", "5", "-c", "64", "-d", "500ms"];
    let counts = each_engine(|engine| run(address, engine, &args)).map(|result| result.requests.sent + result.requests.unsent);
    assert_eq!(counts[0], counts[1], "the same seed makes the same schedule");
    assert!(counts[0].abs_diff(1000) < 150 && counts[0] != 1000, "{counts:?}");
}

#[test]
fn intervals_show_the_rise_of_a_ramp() {
    each_engine(|engine| {
        let result = run(serve_slowly(Duration::ZERO), engine, &["-r", "200..1000", "-c", "64", "-d", "400ms", "--interval", "100ms"]);
        let offered: Vec<f64> = result.intervals.iter().filter_map(|interval| interval.offered_rps).collect();
        assert_eq!(offered.iter().map(|rps| rps.round() as u64).collect::<Vec<_>>(), [300, 500, 700, 900]);
        assert_eq!(result.requests.offered, Some(240));
    });
}

#[test]
fn thinking_connections_pause() {
    each_engine(|engine| {
        let result = run(serve_slowly(Duration::ZERO), engine, &["-c", "4", "--think-time", "50ms", "-d", "500ms"]);
        assert!((8..=44).contains(&result.requests.ok), "about ten per connection are expected: {}", result.requests.ok);
    });
}

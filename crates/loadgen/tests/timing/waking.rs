//! Tests of the times at which a worker asks to be woken up. They call the worker's methods directly, and check that a due request never
//! waits for an unrelated event.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use loadgen::figures::pool::Pool;
use loadgen::protocol::http1::Http1;
use loadgen::request::Requests;
use loadgen::request::expectation::{BodyExpectation, Expectation};
use loadgen::request::kind::MethodKind;
use loadgen::request::kind::RequestKind;
use loadgen::time::arrivals::{Arrivals, Schedule};
use loadgen::time::coordinator_pauses::Pauses;
use loadgen::time::offered_rate::Profile;
use loadgen::time::window::Window;
use loadgen::worker::{Limits, Load, OpenLoop, Report, Shared, Worker};

const MS: u64 = 1_000_000;
const START_NS: u64 = 1_000 * MS;
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Creates a worker with one open connection. Its load starts at `START_NS`. The caller must keep the returned receiver, because it keeps
/// the worker's channel open.
fn started(load: Load) -> (Worker<Http1>, Receiver<Report>) {
    let expectation = Expectation { status: None, body: BodyExpectation::Any };
    let kind = RequestKind::fixed(b"GET / HTTP/1.1\r\n\r\n".to_vec(), MethodKind::Other, expectation);
    let limits = Limits {
        depth: 1,
        event_streams: false,
        requests_per_connection: u64::MAX,
        timeout_ns: 2_000 * MS,
        ends_with_requests: false,
        sample_every_ns: u64::MAX,
    };
    let shared = Arc::new(Shared::default());
    let (reports, received) = sync_channel(8);
    let pool = Arc::new(Pool::new(matches!(load, Load::Open(_)), 0, 1, Pauses::default()));
    let mut worker = Worker::new(Http1::new(Requests::new(vec![kind], &[1], 1)), 1, limits, load, Arc::clone(&shared), reports, pool);
    worker.tick(0);
    assert_eq!(std::mem::take(&mut worker.to_open), [0]);
    worker.connected(0, MS);
    worker.to_flush.clear();
    worker.tick(500 * MS);
    let window = Window { warmup_start_ns: START_NS, measure_start_ns: START_NS, end_ns: START_NS + 1_000 * MS, interval_ns: 1_000 * MS };
    shared.window.set(window).expect("the window is set only once");
    worker.tick(START_NS);
    (worker, received)
}

/// Sends the pending output and delivers its response. Returns false if there was no output.
fn respond(worker: &mut Worker<Http1>, now_ns: u64) -> bool {
    if std::mem::take(&mut worker.to_flush).is_empty() || worker.output(0).is_empty() {
        return false;
    }
    let length = worker.output(0).len();
    worker.sent(0, length);
    worker.received(0, RESPONSE, now_ns);
    true
}

#[test]
fn a_freed_connection_serves_the_next_scheduled_request() {
    let schedule = Schedule::new(Profile::constant(1000.0), Arrivals::Constant, 0, 1, 1);
    let (mut worker, _reports) = started(Load::Open(OpenLoop { schedule, deadline_ns: None }));
    let mut now_ns = START_NS;
    for _ in 0..100 {
        // A response takes a tenth of the time between two requests, and the only connection is busy during that time.
        while !respond(&mut worker, now_ns + MS / 10) {
            now_ns = worker.wake_ns();
            worker.tick(now_ns);
        }
        let next_ns = START_NS + (now_ns - START_NS) / MS * MS + MS;
        assert!(worker.wake_ns() <= next_ns, "due at {next_ns}, asleep until {}", worker.wake_ns());
    }
}

#[test]
fn a_connection_continues_after_its_think_time() {
    let (mut worker, _reports) = started(Load::Closed { think_ns: 3 * MS });
    let mut now_ns = START_NS;
    for _ in 0..100 {
        while !respond(&mut worker, now_ns) {
            now_ns = worker.wake_ns();
            worker.tick(now_ns);
        }
        assert!(worker.wake_ns() <= now_ns + 3 * MS, "thinks until {}, asleep until {}", now_ns + 3 * MS, worker.wake_ns());
    }
}

//! Tests of the times in slices: a stall across the end of a window is measured in full, and threads wake up promptly.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::common::slices::{Commanded, assert_sums};
use crate::common::stalls::{self, Due};
use crate::common::{each_engine, serve_bytes, url};
use loadgen::figures::pool::Pool;
use loadgen::protocol::http1::Http1;
use loadgen::request::Requests;
use loadgen::request::expectation::Expectation;
use loadgen::request::kind::{MethodKind, RequestKind};
use loadgen::time::clock::now_ns;
use loadgen::time::coordinator_pauses::Pauses;
use loadgen::time::window::{Phase, Window};
use loadgen::worker::{Limits, Load, Shared, Worker};

const MS: u64 = 1_000_000;
const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Returns a schedule that answers the first eight requests immediately, and each later request after 550 ms.
fn stalls() -> Due {
    let seen = Cell::new(0);
    Box::new(move |arrival_ns, _| {
        seen.set(seen.get() + 1);
        if seen.get() <= 8 { arrival_ns } else { arrival_ns + 550 * MS }
    })
}

#[test]
fn a_stall_across_the_end_of_a_slice_has_its_whole_length() {
    each_engine(|engine| {
        let (address, _) = stalls::serve(stalls(), Duration::from_secs(6));
        let target = url(address);
        let mut load = Commanded::new(&["-c", "4", "--engine", engine, &target]);
        let slice = load.order("slice 0 400");
        assert!(slice["max_us"].as_f64() >= Some(549e3), "{engine}: {slice}");
        assert!(slice["drain_us"].as_f64() > Some(140e3), "{engine}: {slice}");
        assert_eq!((&slice["completed"], &slice["outside"]), (&8.into(), &4.into()), "late responses are no throughput");
        let result = load.end();
        assert_eq!((&result["service_time_us"]["count"], &result["requests"]["in_flight"]), (&12.into(), &4.into()));
        assert_eq!(result["service_time_us"]["max"], slice["max_us"]);
        assert!(result["stalls"]["longest_us"].as_f64() > Some(100e3), "{}", result["stalls"]);
        assert_sums(&result, &[slice]);
    });
}

/// A request that is sent in the lead-in counts toward throughput if its response arrives within the window. Its service time isn't
/// recorded.
#[test]
fn times_are_those_of_requests_sent_within_the_window() {
    each_engine(|engine| {
        let (address, _) = stalls::serve(Box::new(|arrival_ns, _| arrival_ns + 300 * MS), Duration::from_secs(6));
        let target = url(address);
        let mut load = Commanded::new(&["-c", "4", "--engine", engine, &target]);
        let slice = load.order("slice 150 300");
        let result = load.end();
        let requests = &result["requests"];
        assert_eq!(requests["backlog"], 4, "{engine}: {requests}");
        assert_eq!(requests["sent"], result["service_time_us"]["count"], "{requests}");
        assert!(slice["max_us"].as_f64() >= Some(299e3), "{slice}");
        assert_sums(&result, &[slice]);
    });
}

/// A server that answers one of its clients slowly gives this client's times, even if each request is sent in the lead-in and answered in the
/// drain.
#[test]
fn a_request_that_takes_the_whole_window_has_its_whole_length() {
    each_engine(|engine| {
        let due = |arrival_ns, client| arrival_ns + if client == 0 { 250 * MS } else { 10 * MS };
        let (address, _) = stalls::serve(Box::new(due), Duration::from_secs(6));
        let target = url(address);
        let mut load = Commanded::new(&["-c", "2", "--engine", engine, &target]);
        let slices = [load.order("slice 100 100"), load.order("slice 100 100")];
        let result = load.end();
        for slice in &slices {
            assert!(slice["max_us"].as_f64() >= Some(249e3), "{engine}: {slice}");
        }
        let (requests, times) = (&result["requests"], &result["service_time_us"]);
        assert_eq!(requests["sent"].as_u64().map(|sent| sent + 2), times["count"].as_u64(), "{engine}: {requests} {times}");
        assert_sums(&result, &slices);
    });
}

/// The test uses the fastest of several slices, because a busy machine may delay the others. The program itself waits 200 µs from a command
/// to the start of the load.
#[test]
fn threads_wake_up_within_a_millisecond() {
    each_engine(|engine| {
        let target = url(serve_bytes(HELLO));
        let mut load = Commanded::new(&["-c", "2", "-t", "2", "--engine", engine, &target]);
        let fastest_ns = (0..30).map(|_| {
            std::thread::sleep(Duration::from_millis(5));
            let told_ns = now_ns();
            let slice = load.order("slice 0 2");
            assert!(slice["start_ns"].as_u64() > Some(told_ns));
            slice["start_ns"].as_u64().map_or(u64::MAX, |start_ns| start_ns - told_ns)
        });
        let fastest_ns = fastest_ns.min();
        assert!(fastest_ns < Some(MS), "{engine}: {fastest_ns:?}");
        load.end();
    });
}

/// The test calls the worker's methods directly and passes times to them, so it doesn't depend on a clock. The slices have a lead-in of 10
/// ms and a window of 20 ms.
#[test]
fn a_worker_sleeps_until_a_slice_and_ends_it_with_the_last_response() {
    let kind = RequestKind::fixed(b"GET / HTTP/1.1\r\n\r\n".to_vec(), MethodKind::Other, Expectation::default());
    let limits = Limits {
        depth: 1,
        event_streams: false,
        requests_per_connection: u64::MAX,
        timeout_ns: 2_000 * MS,
        ends_with_requests: false,
        sample_every_ns: u64::MAX,
    };
    let (shared, pool) = (Arc::new(Shared::new(true, None)), Arc::new(Pool::new(false, 0, 1, Pauses::NONE)));
    let (reports, received) = sync_channel(16);
    let protocol = Http1::new(Requests::new(vec![kind], &[1], 1));
    let mut worker = Worker::new(protocol, 1, limits, Load::Closed { think_ns: 0 }, Arc::clone(&shared), reports, pool);
    worker.tick(MS);
    assert_eq!(std::mem::take(&mut worker.to_open), [0]);
    worker.connected(0, 2 * MS);
    worker.tick(100 * MS);
    worker.tick(101 * MS);
    assert_eq!(worker.wake_ns(), u64::MAX, "nothing is due before the first slice");
    // The thread wakes up at the start of the lead-in, then within the window, and then after the end of the window.
    for (number, late_ns) in (1..).zip([0, 15 * MS, 40 * MS]) {
        let warmup_start_ns = number * 1_000 * MS;
        let (measure_start_ns, end_ns) = (warmup_start_ns + 10 * MS, warmup_start_ns + 30 * MS);
        shared.window.set(Window { warmup_start_ns, measure_start_ns, end_ns, interval_ns: 20 * MS }).expect("no thread is asleep");
        worker.wake();
        worker.tick(warmup_start_ns - 1);
        assert_eq!(worker.wake_ns(), warmup_start_ns);
        worker.to_flush.clear();
        worker.tick(warmup_start_ns + late_ns);
        let is_sent = !worker.output(0).is_empty();
        assert_eq!(is_sent, late_ns < 30 * MS, "a request is sent only before the end of the window");
        if is_sent {
            let length = worker.output(0).len();
            worker.sent(0, length);
            worker.tick(end_ns + MS);
            assert!(worker.output(0).is_empty() && worker.wake_ns() <= end_ns + 21 * MS, "no new request, and timeouts are still due");
            worker.received(0, HELLO, end_ns + 7 * MS);
            assert_eq!(worker.wake_ns(), 0, "it looks at once whether this was the last response");
            worker.tick(end_ns + 7 * MS);
        }
        worker.tick(end_ns + 10 * MS);
        assert_eq!(worker.wake_ns(), u64::MAX);
        let told: Vec<_> = received.try_iter().collect();
        let sent_in = told.iter().find(|report| report.recorder.sent > 0).map(|report| report.span.phase);
        let expected = [Some(Phase::Warmup), Some(Phase::Measure), None];
        assert_eq!(sent_in, expected[number as usize - 1], "late by {late_ns} ns");
        let last = told.last().expect("the slice has ended");
        assert!(last.last.is_some() && told.iter().filter(|report| report.last.is_some()).count() == 1);
        let drained_ns = if is_sent { end_ns + 7 * MS } else { end_ns };
        assert_eq!((last.span.end_ns, last.recorder.ok), (drained_ns, u64::from(is_sent)));
        assert_eq!(last.recorder.service.len(), u64::from(is_sent), "a request from the lead-in takes the whole window");
    }
}

//! Slices on command: a stall across the end of a window is measured in full, and threads wake up at once.

use std::cell::Cell;
use std::time::Duration;

use crate::common::slices::{Commanded, assert_sums};
use crate::common::stalls::{self, Due};
use crate::common::{ENGINES, serve_bytes, url};
use loadgen::time::clock::now_ns;

const MS: u64 = 1_000_000;
const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Answers the first eight requests at once and all others after 550 ms.
fn stalls() -> Due {
    let seen = Cell::new(0);
    Box::new(move |arrival_ns, _| {
        seen.set(seen.get() + 1);
        if seen.get() <= 8 { arrival_ns } else { arrival_ns + 550 * MS }
    })
}

#[test]
fn a_stall_across_the_end_of_a_slice_has_its_whole_length() {
    for engine in ENGINES {
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
        assert!(result["stalls"]["longest_us"].as_f64() > Some(250e3), "{}", result["stalls"]);
        assert_sums(&result, &[slice]);
    }
}

/// A request sent in the lead-in counts as throughput if its response comes within the window, but its time doesn't count.
#[test]
fn times_are_those_of_requests_sent_within_the_window() {
    for engine in ENGINES {
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
    }
}

/// The fastest of several slices shows how long waking up takes. The program itself starts a load 200 µs after its command.
#[test]
fn threads_wake_up_within_a_millisecond() {
    for engine in ENGINES {
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
    }
}

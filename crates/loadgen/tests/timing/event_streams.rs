//! Tests of the times of events, with a server that sends them at set instants and records when it did.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::frames::Frames;
use crate::common::{ENGINES, load, read_request, serve, url};
use loadgen::figures::distribution::Distribution;
use loadgen::figures::events::Events;
use loadgen::time::clock::now_ns;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const EVENT: &[u8] = b"9\r\ndata: x\n\n\r\n";
const END: &[u8] = b"0\r\n\r\n";
/// Time between two requests of an open loop: `-r 100`.
const EVERY_NS: u64 = 10_000_000;
const FIRST_DELAY: Duration = Duration::from_millis(20);
/// Maximum error of a median, in microseconds.
const ERROR_MAX_US: f64 = 200.0;
/// Number of runs of which one must be as precise as that, because other programs may delay any of them.
const ATTEMPTS: u32 = 5;

/// The server's record: when each request arrived and when its first event was sent, in nanoseconds of the monotonic clock, and the times
/// between events.
#[derive(Default)]
struct Sent {
    first_ns: Vec<(u64, u64)>,
    between_ns: Vec<u64>,
}

impl Sent {
    /// Returns the median time to the first event and between events. In an open loop, the requests were due at `start_ns` and then once in
    /// `EVERY_NS`. In a closed loop, they were sent just before they arrived.
    fn medians_us(&mut self, open_start_ns: Option<u64>) -> [f64; 2] {
        self.first_ns.sort_unstable();
        let due_ns = |number, came_ns| open_start_ns.map_or(came_ns, |start_ns| start_ns + number * EVERY_NS);
        let mut first_ns = (0..).zip(&self.first_ns).map(|(number, (came_ns, first_ns))| first_ns - due_ns(number, *came_ns)).collect();
        [&mut first_ns, &mut self.between_ns].map(|times| {
            times.sort_unstable();
            times[times.len() / 2] as f64 / 1e3
        })
    }
}

fn sleep_until(due_ns: u64) {
    std::thread::sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns())));
}

#[derive(Clone, Copy)]
enum Piece {
    Head,
    Event,
    End,
}

/// Sends a stream: the first event 20 ms after the request, and each further event `gap` after the one before. `send` returns false if the
/// client has disconnected, and so does this function.
fn send_stream(mut send: impl FnMut(Piece) -> bool, gap: Duration, events: u64, sent: &Mutex<Sent>) -> bool {
    let mut last_ns = now_ns();
    let mut due_ns = last_ns;
    let mut is_open = send(Piece::Head);
    for number in 0..events {
        due_ns += if number == 0 { FIRST_DELAY } else { gap }.as_nanos() as u64;
        sleep_until(due_ns);
        let event_ns = now_ns();
        is_open = is_open && send(Piece::Event);
        if !is_open {
            return false;
        }
        let mut sent = sent.lock().expect("no thread panics");
        if number == 0 {
            sent.first_ns.push((last_ns, event_ns));
        } else {
            sent.between_ns.push(event_ns - last_ns);
        }
        last_ns = event_ns;
    }
    send(Piece::End)
}

/// Starts a server of event streams over HTTP/1.1.
fn serve_streams(gap: Duration, events: u64) -> (SocketAddr, Arc<Mutex<Sent>>) {
    let sent = Arc::new(Mutex::new(Sent::default()));
    let record = Arc::clone(&sent);
    let address = serve(move |mut stream| {
        stream.set_nodelay(true).expect("a TCP socket");
        let send = |mut stream: &TcpStream, piece| {
            let bytes = match piece {
                Piece::Head => HEAD,
                Piece::Event => EVENT,
                Piece::End => END,
            };
            stream.write_all(bytes).is_ok()
        };
        while read_request(&mut stream) && send_stream(|piece| send(&stream, piece), gap, events, &record) {}
    });
    (address, sent)
}

/// Starts a server of event streams over HTTP/2.
fn serve_streams_of_http2(gap: Duration, events: u64) -> (SocketAddr, Arc<Mutex<Sent>>) {
    let sent = Arc::new(Mutex::new(Sent::default()));
    let record = Arc::clone(&sent);
    let address = serve(move |stream| {
        stream.set_nodelay(true).expect("a TCP socket");
        let Some(mut frames) = Frames::accept(stream) else { return };
        let mut is_open = true;
        while is_open && let Some(request) = frames.next() {
            let send = |piece| match piece {
                Piece::Head => frames.begin_events(request.stream),
                Piece::Event => frames.data(request.stream, b"data: x\n\n"),
                Piece::End => frames.end(request.stream),
            };
            is_open = send_stream(send, gap, events, &record);
        }
    });
    (address, sent)
}

fn median_us(times: &Distribution) -> f64 {
    times.p50.expect("enough events for a median")
}

/// Checks that the medians differ from those of the server by at most `ERROR_MAX_US`, for any engine.
fn assert_medians(args: &[&str], gap: Duration, events: u64) {
    for engine in ENGINES {
        let mut seen = Vec::new();
        let is_true = (0..ATTEMPTS).any(|_| {
            let serve = if args.contains(&"--http2") { serve_streams_of_http2 } else { serve_streams };
            let (address, sent) = serve(gap, events);
            let result = load(&[args, &["--sse", "--engine", engine, &url(address)]].concat()).expect("the run succeeds");
            assert_eq!(result.errors.total(), 0, "{engine} {args:?}: {:?}", result.errors);
            let Events { first_us, between_us, count, streams, .. } = result.events.expect("events");
            assert_eq!(between_us.count, count - streams, "{engine} {args:?}");
            let truth = sent.lock().expect("no thread panics").medians_us(result.response_time_us.map(|_| result.start_ns));
            let errors = [median_us(&first_us) - truth[0], median_us(&between_us) - truth[1]];
            seen.push((truth, errors));
            errors.iter().all(|error| error.abs() <= ERROR_MAX_US)
        });
        assert!(is_true, "{engine} {args:?}: medians of the server and errors in us: {seen:?}");
    }
}

#[test]
fn events_of_a_closed_loop_arrive_when_the_server_sends_them() {
    for args in [["-n", "24", "-c", "2", "-t", "1"], ["-n", "24", "-c", "2", "-t", "2"]] {
        assert_medians(&args, Duration::from_millis(5), 4);
    }
    assert_medians(&["-n", "24", "-c", "2"], Duration::from_millis(50), 2);
    assert_medians(&["-n", "24", "-c", "2", "--http2"], Duration::from_millis(5), 4);
}

#[test]
fn events_of_an_open_loop_arrive_when_the_server_sends_them() {
    for more in [&["-t", "1"][..], &["-t", "2"], &["--http2"]] {
        assert_medians(&[&["-r", "100", "-n", "40", "-c", "40"], more].concat(), Duration::from_millis(5), 20);
    }
}

/// With too few connections, streams wait for a free one. The wait counts, because the stream was due earlier.
#[test]
fn the_first_event_of_an_open_loop_counts_from_the_intended_send() {
    let (address, _) = serve_streams(Duration::from_millis(10), 20);
    for engine in ENGINES {
        let args = ["--sse", "-r", "100", "-n", "40", "-c", "4", "--engine", engine, &url(address)];
        let events = load(&args).expect("the run succeeds").events.expect("events");
        // Each group of four takes 20 ms and 19 * 10 ms, but is due within 40 ms. The median stream is in the fifth group of ten.
        let median_us = median_us(&events.first_us);
        assert!((600e3..1200e3).contains(&median_us), "{engine}: {median_us}");
        // Fifteen of nineteen streams find no connection within the window.
        let args = ["--sse", "-r", "100", "-d", "190ms", "-c", "4", "--engine", engine, &url(address)];
        let events = load(&args).expect("the run succeeds").events.expect("events");
        assert!(events.first_censored >= 5 && events.first_us.max.is_some_and(|max_us| max_us > 100e3), "{engine}: {events:?}");
    }
}

/// A stalled stream has one long time between events, also if it stalls until the end of the run.
#[test]
fn stalls_are_long_times_between_events() {
    for engine in ENGINES {
        for (stall, is_over) in [(Duration::from_millis(300), true), (Duration::from_secs(10), false)] {
            let address = serve(move |mut stream| {
                stream.set_nodelay(true).expect("a TCP socket");
                read_request(&mut stream);
                let _ = stream.write_all(HEAD);
                for number in 0.. {
                    std::thread::sleep(if number == 20 { stall } else { Duration::from_millis(5) });
                    if stream.write_all(EVENT).is_err() {
                        return;
                    }
                }
            });
            let args = ["--sse", "-c", "4", "-d", "600ms", "--timeout", "100ms", "--engine", engine, &url(address)];
            let result = load(&args).expect("the run succeeds");
            let events = result.events.expect("events");
            let max_us = events.between_us.max.expect("events");
            assert!((295e3..500e3).contains(&max_us) || (!is_over && max_us < 605e3), "{engine} {stall:?}: {max_us}");
            assert_eq!(events.between_censored, if is_over { 0 } else { 4 }, "{engine} {stall:?}");
            assert_eq!((result.errors.total(), result.requests.in_flight), (0, 4), "{engine} {stall:?}");
        }
    }
}

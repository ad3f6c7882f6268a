//! Tests of the times of events, with a server that sends them at set instants and records when it did.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::frames::Frames;
use crate::common::record::{Times, assert_quantile, assert_times, waiting_us};
use crate::common::{each_engine, load, read_request, serve, url};
use loadgen::figures::events::Events;
use loadgen::figures::result::RunResult;
use loadgen::time::clock::now_ns;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const EVENT: &[u8] = b"9\r\ndata: x\n\n\r\n";
const END: &[u8] = b"0\r\n\r\n";
/// Time between two requests of an open loop: `-r 200`.
const EVERY_NS: u64 = 5_000_000;
const FIRST_DELAY: Duration = Duration::from_millis(20);

/// The server's record: when each request arrived and when its first event was sent, in nanoseconds of the monotonic clock, the times
/// between events, and by how much the events were late.
#[derive(Default)]
struct Sent {
    first_ns: Mutex<Vec<(u64, u64)>>,
    between: Times,
    late: Times,
}

impl Sent {
    /// Returns the times to the first event. In an open loop, the requests were due at `open_start_ns` and then once in `EVERY_NS`. In a
    /// closed loop, they were sent just before they arrived.
    fn first(&self, open_start_ns: Option<u64>) -> Times {
        let mut sent = self.first_ns.lock().expect("no thread panics");
        sent.sort_unstable();
        let due_ns = |number, came_ns| open_start_ns.map_or(came_ns, |start_ns| start_ns + number * EVERY_NS);
        let times = Times::default();
        (0..).zip(&*sent).for_each(|(number, (came_ns, first_ns))| times.push(first_ns - due_ns(number, *came_ns)));
        times
    }
}

#[derive(Clone, Copy)]
enum Piece {
    Head,
    Event,
    End,
}

/// Sends a stream: the first event 20 ms after the request, and each further event `gap` after the one before. `send` returns false if the
/// client has disconnected, and so does this function.
fn send_stream(mut send: impl FnMut(Piece) -> bool, gap: Duration, events: u64, sent: &Sent) -> bool {
    let mut last_ns = now_ns();
    let mut due_ns = last_ns;
    let mut is_open = send(Piece::Head);
    for number in 0..events {
        due_ns += if number == 0 { FIRST_DELAY } else { gap }.as_nanos() as u64;
        let event_ns = sent.late.sleep_until(due_ns);
        is_open = is_open && send(Piece::Event);
        if !is_open {
            return false;
        }
        if number == 0 {
            sent.first_ns.lock().expect("no thread panics").push((last_ns, event_ns));
        } else {
            sent.between.push(event_ns - last_ns);
        }
        last_ns = event_ns;
    }
    send(Piece::End)
}

/// Starts a server of event streams over HTTP/1.1.
fn serve_streams(gap: Duration, events: u64) -> (SocketAddr, Arc<Sent>) {
    let sent = Arc::new(Sent::default());
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
fn serve_streams_of_http2(gap: Duration, events: u64) -> (SocketAddr, Arc<Sent>) {
    let sent = Arc::new(Sent::default());
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

/// Loads a server of event streams. Returns the reported times and those that the server recorded, to the first event and of all.
fn run(args: &[&str], engine: &str, gap: Duration, events: u64) -> (RunResult, Times, Arc<Sent>) {
    let serve = if args.contains(&"--http2") { serve_streams_of_http2 } else { serve_streams };
    let (address, sent) = serve(gap, events);
    let result = load(&[args, &["--sse", "--engine", engine, &url(address)]].concat()).expect("the run succeeds");
    assert_eq!(result.errors.total(), 0, "{engine} {args:?}: {:?}", result.errors);
    let first = sent.first(result.response_time_us.as_ref().map(|_| result.start_ns));
    (result, first, sent)
}

/// Checks the times to the first event and between events with any engine.
fn assert_events(args: &[&str], gap: Duration, events: u64) {
    each_engine(|engine| {
        let (result, first, sent) = run(args, engine, gap, events);
        let error_max_us = sent.late.error_max_us(waiting_us(&result));
        let Events { first_us, between_us, count, streams, .. } = result.events.expect("events");
        let what = format!("{engine} {args:?}");
        assert_eq!((first_us.count, between_us.count), (streams, count - streams), "{what}");
        assert_times([first_us.min, first_us.p25], &first, error_max_us, &format!("{what}: first event"));
        assert_quantile(between_us.p50, &sent.between, 0.5, error_max_us, &format!("{what}: between events"));
    });
}

#[test]
fn events_of_a_closed_loop_arrive_when_the_server_sends_them() {
    for args in [&["-t", "1"][..], &["-t", "2"], &["--http2"]] {
        assert_events(&[&["-n", "24", "-c", "2"], args].concat(), Duration::from_millis(5), 4);
    }
    assert_events(&["-n", "24", "-c", "4"], Duration::from_millis(50), 2);
}

#[test]
fn events_of_an_open_loop_arrive_when_the_server_sends_them() {
    for more in [&["-t", "1"][..], &["-t", "2"], &["--http2"]] {
        assert_events(&[&["-r", "200", "-n", "40", "-c", "40"], more].concat(), Duration::from_millis(5), 10);
    }
}

/// With too few connections, streams wait for a free one. The wait counts, because the stream was due earlier.
#[test]
fn the_first_event_of_an_open_loop_counts_from_the_intended_send() {
    each_engine(|engine| {
        // Each group of four takes 20 ms and 9 * 5 ms, but is due within 20 ms. The median stream is in the third group of six.
        let (result, first, _) = run(&["-r", "200", "-n", "24", "-c", "4"], engine, Duration::from_millis(5), 10);
        let (reported_us, recorded_us) = (result.events.expect("events").first_us.p50.expect("enough streams"), first.quantile_us(0.5));
        assert!(recorded_us > 60e3 && reported_us > 0.7 * recorded_us, "{engine}: {reported_us} {recorded_us}");
        // Thirty-four of thirty-eight streams find no connection within the window.
        let (address, _) = serve_streams(Duration::from_millis(10), 20);
        let args = ["--sse", "-r", "200", "-d", "190ms", "-c", "4", "--engine", engine, &url(address)];
        let events = load(&args).expect("the run succeeds").events.expect("events");
        assert!(events.first_censored >= 10 && events.first_us.max.is_some_and(|max_us| max_us > 100e3), "{engine}: {events:?}");
    });
}

/// A stalled stream has one long time between events, also if it stalls until the end of the run.
#[test]
fn stalls_are_long_times_between_events() {
    each_engine(|engine| {
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
            let args = ["--sse", "-c", "4", "-d", "1s", "--timeout", "250ms", "--engine", engine, &url(address)];
            let result = load(&args).expect("the run succeeds");
            let events = result.events.expect("events");
            let max_us = events.between_us.max.expect("events");
            assert!((250e3..500e3).contains(&max_us) || (!is_over && max_us < 1005e3), "{engine} {stall:?}: {max_us}");
            assert_eq!(events.between_censored == 4, !is_over, "{engine} {stall:?}: {}", events.between_censored);
            assert_eq!((result.errors.total(), result.requests.in_flight), (0, 4), "{engine} {stall:?}");
        }
    });
}

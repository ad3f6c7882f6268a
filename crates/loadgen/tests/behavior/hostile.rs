//! Tests of malformed, truncated, oversized and hostile responses. None of them may count as correct, or make the program hang or crash.
//! Each must count as the right kind of error.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::common::{ENGINES, load, read_request, serve, serve_bytes, serve_bytes_once, url};
use loadgen::figures::result::RunResult;

/// Runs a short load against the server, checks that no response was correct and that the run didn't hang, and returns the result.
fn attack(address: std::net::SocketAddr, engine: &str) -> RunResult {
    let started = Instant::now();
    let result =
        load(&["-c", "4", "-d", "250ms", "--timeout", "100ms", "--engine", engine, &url(address)]).expect("the server accepts connections");
    assert!(started.elapsed() < Duration::from_secs(3), "the run hung");
    assert_eq!(result.requests.ok, 0, "{:?}", result.requests);
    assert!(result.errors.total() > 0);
    result
}

macro_rules! invalid {
    ($($name:ident: $response:expr;)*) => {$(
        #[test]
        fn $name() {
            for engine in ENGINES {
                let result = attack(serve_bytes($response), engine);
                assert!(result.errors.invalid_response > 0, "{:?}", result.errors);
                assert_eq!(result.errors.invalid_response, result.errors.total(), "{:?}", result.errors);
            }
        }
    )*};
}

invalid! {
    garbage: b"\x00\xff\x17 nonsense\r\n\r\n";
    not_http: b"SSH-2.0-OpenSSH_9.2\r\n\r\n";
    old_version: b"HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n";
    next_version: b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n";
    status_of_two_digits: b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n";
    status_of_letters: b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n";
    status_below_100: b"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n";
    header_without_colon: b"HTTP/1.1 200 OK\r\nContent-Length 0\r\n\r\n";
    space_before_colon: b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok";
    nul_in_header: b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n";
    negative_length: b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n";
    signed_length: b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok";
    length_beyond_64_bits: b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n";
    contradicting_lengths: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!";
    length_and_chunked: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    chunked_in_http_1_0: b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    chunked_twice: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n";
    chunk_size_of_letters: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n";
    chunk_size_beyond_64_bits: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n\r\n";
    chunk_longer_than_its_size: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n";
    body_longer_than_its_length: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and more";
    body_of_no_content: b"HTTP/1.1 204 No Content\r\n\r\nsurprise";
    responded_twice: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    protocol_switch: b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
}

#[test]
fn endless_head() {
    for engine in ENGINES {
        let address = serve(|mut stream| {
            let line = [b'a'; 1024];
            if read_request(&mut stream) && stream.write_all(b"HTTP/1.1 200 OK\r\n").is_ok() {
                while stream.write_all(b"X: ").and_then(|()| stream.write_all(&line)).and_then(|()| stream.write_all(b"\r\n")).is_ok() {}
            }
        });
        assert!(attack(address, engine).errors.invalid_response > 0);
    }
}

#[test]
fn endless_interim_responses() {
    for engine in ENGINES {
        let address = serve(|mut stream| {
            if read_request(&mut stream) {
                while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {}
            }
        });
        assert!(attack(address, engine).errors.invalid_response > 0);
    }
}

#[test]
fn endless_chunk_extensions() {
    for engine in ENGINES {
        let address = serve(|mut stream| {
            if read_request(&mut stream) && stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;").is_ok() {
                while stream.write_all(&[b'x'; 4096]).is_ok() {}
            }
        });
        assert!(attack(address, engine).errors.invalid_response > 0);
    }
}

#[test]
fn truncated_head() {
    for engine in ENGINES {
        let result = attack(serve_bytes_once(b"HTTP/1.1 200 OK\r\nContent-Le"), engine);
        assert_eq!(result.errors.closed_early, result.errors.total(), "{:?}", result.errors);
    }
}

#[test]
fn truncated_body() {
    for engine in ENGINES {
        let result = attack(serve_bytes_once(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"), engine);
        assert_eq!(result.errors.closed_early, result.errors.total(), "{:?}", result.errors);
    }
}

#[test]
fn truncated_chunks() {
    for engine in ENGINES {
        let result = attack(serve_bytes_once(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), engine);
        assert_eq!(result.errors.closed_early, result.errors.total(), "{:?}", result.errors);
    }
}

#[test]
fn closed_without_a_response() {
    for engine in ENGINES {
        let result = attack(serve_bytes_once(b""), engine);
        assert_eq!(result.errors.closed_early, result.errors.total(), "{:?}", result.errors);
    }
}

#[test]
fn reset_after_the_request() {
    for engine in ENGINES {
        let address = serve(|mut stream| {
            if read_request(&mut stream) {
                let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            }
        });
        let result = attack(address, engine);
        assert!(result.errors.reset > 0, "{:?}", result.errors);
    }
}

#[test]
fn never_answered() {
    for engine in ENGINES {
        let address = serve(|mut stream| while read_request(&mut stream) {});
        let result = attack(address, engine);
        assert_eq!(result.errors.timeout, result.errors.total(), "{:?}", result.errors);
        // Requests that are in flight at the end of the window also count as censored if they have waited long enough.
        assert!(result.censored >= result.errors.timeout, "{} of {:?}", result.censored, result.errors);
        // The histogram has a relative precision of 0.1%, so it may report 100.02 ms as 99.94 ms, the lower edge of the bucket.
        assert!(result.service_time_us.min >= Some(99_900.0), "a timed-out request is in the tail");
    }
}

#[test]
fn one_byte_at_a_time_forever() {
    for engine in ENGINES {
        let address = serve(|mut stream| {
            if read_request(&mut stream) && stream.write_all(b"HTTP/1.1 200 OK\r\nX: ").is_ok() {
                while stream.write_all(b"x").is_ok() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        assert!(attack(address, engine).errors.timeout > 0);
    }
}

#[test]
fn closed_on_accept() {
    for engine in ENGINES {
        let result = attack(serve(drop), engine);
        assert!(result.errors.closed_early + result.errors.reset > 0, "{:?}", result.errors);
        assert!(result.errors.total() < 1000, "a server that fails at once must not be flooded: {:?}", result.errors);
    }
}

//! Tests of sampled bodies: during the load, the load generator keeps some responses, including their heads.

use crate::common::{ENGINES, load, serve_bytes, url};

const SIZED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";

#[test]
fn samples_are_complete_responses_with_any_framing() {
    for (response, head_end) in [(SIZED, "Content-Length: 5\r\n\r\n"), (CHUNKED, "chunked\r\n\r\n")] {
        for engine in ENGINES {
            let address = serve_bytes(response);
            let result =
                load(&["-c", "2", "-d", "250ms", "--sample-bodies", "40ms", "--engine", engine, &url(address)]).expect("the run succeeds");
            assert!((1..=12).contains(&result.samples.len()), "{engine}: {}", result.samples.len());
            for sample in &result.samples {
                assert_eq!((sample.request, sample.status, sample.body.as_str(), sample.truncated), (0, 200, "hello", false));
                assert!(sample.head.starts_with("HTTP/1.1 200 OK\r\n") && sample.head.ends_with(head_end), "{}", sample.head);
            }
            assert_eq!(result.requests.ok, result.requests.completed, "{engine}");
        }
    }
}

#[test]
fn other_responses_take_the_shortcut() {
    let result = load(&["-c", "2", "-d", "250ms", "--sample-bodies", "40ms", &url(serve_bytes(SIZED))]).expect("the run succeeds");
    assert!(result.parser.full <= result.samples.len() as u64 + 2, "{:?}, {} samples", result.parser, result.samples.len());
    assert!(result.parser.fast > 10);
}

#[test]
fn only_requested_samples_are_kept() {
    let address = serve_bytes(SIZED);
    assert!(load(&["-c", "2", "-d", "200ms", &url(address)]).expect("the run succeeds").samples.is_empty());
    let checked = ["-c", "2", "-d", "200ms", "--sample-bodies", "20ms", "--expect-body", "hello", &url(address)];
    assert!(!load(&checked).expect("the run succeeds").samples.is_empty());
    let often = load(&["--sample-bodies", "1ms", &url(address)]).expect_err("too often");
    assert!(often.to_string().contains("must be at least 20ms"), "{often}");
}

#[test]
fn long_bodies_are_truncated_and_marked() {
    let body = "x".repeat(100_000);
    let response: &'static [u8] = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes().leak();
    let result = load(&["-c", "2", "-d", "250ms", "--sample-bodies", "40ms", &url(serve_bytes(response))]).expect("the run succeeds");
    assert!(!result.samples.is_empty());
    assert!(result.samples.iter().all(|sample| sample.truncated && sample.body.len() == 64 * 1024));
}

//! Tests of loads with several kinds of request: their proportions, checks and counts.

use std::io::Write;
use std::path::PathBuf;

use crate::common::{ENGINES, load, serve, url};
use loadgen::figures::result::{Part, RunResult};

/// Returns the path of the next request, or `None` if the client has disconnected.
fn read_path(stream: &mut std::net::TcpStream) -> Option<String> {
    use std::io::Read;
    let (mut seen, mut byte) = (Vec::new(), [0; 1]);
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => seen.push(byte[0]),
            _ => return None,
        }
    }
    String::from_utf8_lossy(&seen).split(' ').nth(1).map(str::to_owned)
}

/// Starts a server that responds with the path of each request, so that requests with different paths have different correct responses.
fn serve_paths() -> std::net::SocketAddr {
    serve(|mut stream| {
        while let Some(path) = read_path(&mut stream) {
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}", path.len());
            if stream.write_all(response.as_bytes()).is_err() {
                return;
            }
        }
    })
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("httpbench-mix-{}-{name}.json", std::process::id()));
    std::fs::write(&path, text).expect("the temporary folder is writable");
    path
}

const MIX: &str = r#"[
    {"name": "json", "weight": 3, "path": "/json", "expect_body": "/json"},
    {"name": "db", "path": "/db", "expect_body": "/db", "headers": ["Accept: application/json"]}
]"#;

fn mixed(name: &str, text: &str, more: &[&str]) -> RunResult {
    let path = file(name, text);
    let path = path.to_str().expect("the temporary path is UTF-8");
    load(&[&["-d", "150ms", "--mix", path, &url(serve_paths())], more].concat()).expect("the run succeeds")
}

/// Checks that there are three `json` requests for each `db` request. Each thread may stop in the middle of a group of four requests, so
/// small deviations are allowed.
fn assert_three_to_one(parts: &[Part], threads: u64, context: &str) {
    let [json, db] = parts else { panic!("{context}: {parts:?}") };
    assert!(json.sent.abs_diff(3 * db.sent) <= 4 * threads, "{context}: {} to {}", json.sent, db.sent);
}

#[test]
fn requests_follow_the_weights_and_get_their_own_responses() {
    for engine in ENGINES {
        for more in [&["-c", "1"][..], &["-c", "6", "-t", "2"], &["-c", "4", "--pipeline", "5"], &["-c", "4", "--rate", "2000"]] {
            let result = mixed("weights", MIX, &[more, &["--engine", engine]].concat());
            let context = format!("{engine} {more:?}");
            assert_three_to_one(&result.parts, 2, &context);
            assert_eq!(result.errors.total(), 0, "{context}: {:?}", result.errors);
            assert!(result.requests.ok > 20, "{context}: {:?}", result.requests);
        }
    }
}

#[test]
fn counts_and_times_of_the_parts_add_up_to_the_totals() {
    for more in [&["-c", "4"][..], &["-c", "4", "--rate", "1000"]] {
        let result = mixed("sums", MIX, more);
        let sum = |of: fn(&Part) -> u64| result.parts.iter().map(of).sum::<u64>();
        assert_eq!(sum(|part| part.sent), result.requests.sent, "{more:?}");
        assert_eq!(sum(|part| part.ok), result.requests.ok, "{more:?}");
        assert_eq!(sum(|part| part.time_us.count), result.requests.ok, "{more:?}");
        let whole: f64 = result.parts.iter().map(|part| part.throughput_rps).sum();
        assert!((whole - result.throughput_rps).abs() < 1e-6 * whole, "{more:?}: {whole} {}", result.throughput_rps);
        assert_eq!(result.parts.iter().map(|part| (part.name.as_str(), part.weight)).collect::<Vec<_>>(), [("json", 3), ("db", 1)]);
    }
}

#[test]
fn a_wrong_response_is_an_error_of_its_part_only() {
    let wrong = MIX.replace(r#""expect_body": "/db""#, r#""expect_body": "/db?""#);
    for more in [&["-c", "2"][..], &["-c", "2", "--pipeline", "3"]] {
        let result = mixed("wrong", &wrong, more);
        let [json, db] = &result.parts[..] else { panic!("{:?}", result.parts) };
        assert!(json.ok > 5 && json.errors == 0, "{more:?}: {json:?}");
        assert!(db.ok == 0 && db.errors > 1 && db.errors == result.errors.unexpected_body, "{more:?}: {db:?}");
    }
}

#[test]
fn several_urls_have_parts_but_a_single_one_has_none() {
    let address = serve_paths();
    let other = format!("{}other", url(address));
    let result = load(&["-c", "2", "-d", "100ms", "--weights", "3,1", &url(address), &other]).expect("the run succeeds");
    assert_three_to_one(&result.parts, 1, "urls");
    assert_eq!(result.parts[1].name, other);
    assert!(load(&["-c", "2", "-d", "100ms", &url(address)]).expect("the run succeeds").parts.is_empty());
}

#[test]
fn errors_in_a_file_are_reported() {
    let cases = [
        ("[]", "has 0 requests, but it must have 1 to 16"),
        (r#"[{"name": "a", "path": "b"}]"#, "`b` is not a path"),
        (r#"[{"name": "a", "path": "/", "weight": 0}]"#, "the weight 0 is not between 1 and 1000"),
        (r#"[{"name": "a", "path": "/", "headers": ["b"]}]"#, "`b` is not a valid header field"),
        (r#"[{"name": "a", "path": "/", "method": ""}]"#, "is not a valid method"),
        (r#"[{"name": "a", "path": "/", "expect_body_sha256": "b"}]"#, "`b` is not a SHA-256"),
        (r#"[{"name": "a", "path": "/", "color": 1}]"#, "unknown field `color`"),
        ("{", "is not a valid file of requests"),
    ];
    for (at, (text, expected)) in cases.into_iter().enumerate() {
        let path = file(&format!("bad{at}"), text);
        let error = load(&["--mix", path.to_str().expect("text"), "http://127.0.0.1:1/"]).expect_err(text);
        assert!(format!("{error:#}").contains(expected), "{text}: {error:#}");
    }
    let error = load(&["--mix", "/nowhere.json", "http://127.0.0.1:1/"]).expect_err("no file");
    assert!(format!("{error:#}").contains("cannot read `/nowhere.json`"), "{error:#}");
    assert!(load(&["--mix", "x", "-X", "POST", "http://127.0.0.1:1/"]).is_err(), "the file defines the method");
}

#[test]
fn a_timed_out_request_is_an_error_of_its_part() {
    let address = serve(|mut stream| {
        while let Some(path) = read_path(&mut stream) {
            let response: &[u8] = if path == "/db" { b"" } else { b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n/json" };
            if stream.write_all(response).is_err() {
                return;
            }
        }
    });
    let path = file("silent", MIX);
    let path = path.to_str().expect("the temporary path is UTF-8");
    let result = load(&["-c", "4", "-d", "500ms", "--timeout", "100ms", "--mix", path, &url(address)]).expect("the run succeeds");
    let [json, db] = &result.parts[..] else { panic!("{:?}", result.parts) };
    assert!(json.ok > 0 && json.errors == 0, "{json:?}");
    assert!(db.ok == 0 && db.errors > 0 && db.errors == db.time_us.count, "{db:?}");
    assert_eq!(db.errors, result.errors.timeout);
}

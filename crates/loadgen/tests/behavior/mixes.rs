//! Tests of loads with several kinds of request: their proportions, checks and counts.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::common::{ENGINES, load, scratch, serve, url};
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
    let path = scratch(&format!("{name}.json"));
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

/// Returns a file of requests to different paths with the same name. Each expects its own body if `own_bodies` is true.
fn rows(count: usize, own_bodies: bool) -> String {
    let row = |number: usize| {
        let body = if own_bodies { format!(r#", "expect_body": "/{number}""#) } else { String::new() };
        format!(r#"{{"name": "row", "path": "/{number}"{body}}}"#)
    };
    format!("[{}]", (0..count).map(row).collect::<Vec<_>>().join(","))
}

#[test]
fn requests_with_the_same_name_have_their_own_responses_and_common_results() {
    for engine in ENGINES {
        let apart = &["-c", "4", "--rate", "2000", "--pipeline", "5"];
        for more in [&["-c", "1"][..], &["-c", "6", "-t", "2"], &["-c", "4", "--pipeline", "5"], &["-c", "4", "--rate", "2000"], apart] {
            let context = format!("{engine} {more:?}");
            let result = mixed("rows", &rows(50, true), &[more, &["--engine", engine]].concat());
            assert_eq!(result.errors.total(), 0, "{context}: {:?}", result.errors);
            assert!(result.requests.ok > 20 && result.parts.is_empty(), "{context}: {:?}", result.requests);
        }
    }
}

#[test]
fn threads_repeat_all_requests_in_order_and_start_at_different_ones() {
    let paths = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&paths);
    let address = serve(move |mut stream| {
        while let Some(path) = read_path(&mut stream) {
            seen.lock().expect("no test thread panics").push(path);
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                return;
            }
        }
    });
    let path = file("order", &rows(10, false));
    let path = path.to_str().expect("the temporary path is UTF-8");
    let sent = |threads: &str, requests: &str| {
        paths.lock().expect("no test thread panics").clear();
        load(&["-c", threads, "-t", threads, "-n", requests, "--mix", path, &url(address)]).expect("the run succeeds");
        paths.lock().expect("no test thread panics").clone()
    };
    let numbers: Vec<_> = (0..25).map(|number| format!("/{}", number % 10)).collect();
    assert_eq!(sent("1", "25"), numbers);
    let firsts = sent("2", "2");
    assert!(firsts.iter().all(|path| ["/0", "/1", "/5", "/6"].contains(&path.as_str())), "{firsts:?}");
}

#[test]
fn a_request_inherits_what_it_leaves_out_from_the_first_one_with_its_name() {
    let text = r#"[
        {"name": "a", "path": "/1", "headers": ["X: 1"], "expect_status": 200, "expect_body": "/1"},
        {"name": "a", "weight": 3},
        {"name": "a", "path": "/2", "expect_body": null},
        {"name": "b", "path": "/3", "expect_status": 404},
        {"name": "b", "expect_status": null}
    ]"#;
    let result = mixed("inherited", text, &["-c", "2"]);
    let [a, b] = &result.parts[..] else { panic!("{:?}", result.parts) };
    assert!(a.errors == 0 && a.ok > 10 && a.weight == 5, "{a:?}");
    assert!(b.errors > 0 && b.ok > 0 && b.errors == result.errors.unexpected_status, "{b:?}");
}

#[test]
fn errors_in_a_file_are_reported() {
    let many: String = (0..17).map(|number| format!(r#"{{"name": "n{number}", "path": "/"}},"#)).collect();
    let heavy: String = (0..1001).map(|_| r#"{"name": "a", "path": "/", "weight": 1000},"#).collect();
    let (many, heavy) = (format!("[{}]", many.trim_end_matches(',')), format!("[{}]", heavy.trim_end_matches(',')));
    let cases = [
        ("[]", "has 0 requests, but it must have 1 to 100000"),
        (&many, "has 17 different names, but at most 16 are allowed"),
        (&heavy, "add up to 1001000, but at most 1000000 is allowed"),
        (r#"[{"name": "a"}]"#, "request 1 (`a`): missing field `path`"),
        (r#"[{"name": "a", "path": "/"}, {"name": "a", "path": "x"}]"#, "request 2 (`a`): `x` is not a path"),
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

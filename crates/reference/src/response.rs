//! Builds responses. They contain the date, so correct responses are built once per second and shared by all requests within that second.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::request::Wanted;

/// The bytes of a response, and the length of its body.
#[derive(Clone)]
pub struct Response {
    pub bytes: Arc<[u8]>,
    pub body_bytes: usize,
}

pub struct Responses {
    body: Arc<[u8]>,
    second: u64,
    /// Responses to GET: the first keeps the connection open, and the second closes it. `None` until needed.
    get: [Option<Response>; 2],
    /// Responses to HEAD, in the same order.
    head: [Option<Response>; 2],
}

impl Responses {
    pub fn new(body: &[u8]) -> Self {
        Self { body: body.into(), second: 0, get: [None, None], head: [None, None] }
    }

    /// Returns the response to a request.
    pub fn to(&mut self, wanted: Wanted, close: bool) -> Response {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        if now != self.second {
            (self.second, self.get, self.head) = (now, [None, None], [None, None]);
        }
        let body = &self.body;
        match wanted {
            Wanted::Get => self.get[usize::from(close)].get_or_insert_with(|| made(now, "200 OK", close, body, true)).clone(),
            Wanted::Head => self.head[usize::from(close)].get_or_insert_with(|| made(now, "200 OK", close, body, false)).clone(),
            Wanted::NotFound => made(now, "404 Not Found", close, b"not found\n", true),
            Wanted::NotAllowed => made(now, "405 Method Not Allowed\r\nAllow: GET, HEAD", close, b"not allowed\n", true),
        }
    }

    /// Returns the response to an invalid request.
    pub fn to_garbage(&self) -> Response {
        made(self.second, "400 Bad Request", true, b"bad request\n", true)
    }
}

fn made(second: u64, status: &str, close: bool, body: &[u8], with_body: bool) -> Response {
    let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
    let connection = if close { "Connection: close\r\n" } else { "" };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nServer: httpbench-reference\r\nDate: {date}\r\n{connection}\r\n"
    );
    let body = if with_body { body } else { b"" };
    Response { bytes: [head.as_bytes(), body].concat().into(), body_bytes: body.len() }
}

/// Generates a body of this many bytes. The content is always the same.
pub fn body_of(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| if index % 64 == 63 { b'\n' } else { b'a' + (index % 64 % 26) as u8 }).collect()
}

//! Parses requests from a byte stream that may be split anywhere.

const HEADERS_MAX: usize = 64;
const HEAD_BYTES_MAX: usize = 32 * 1024;

/// The result of parsing the beginning of a buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// An incomplete request.
    Incomplete,
    /// A complete request and the length of its head.
    Request { head_bytes: usize, wanted: Wanted, close: bool },
    /// An invalid request. The start of the next request is unknown, so the server responds with 400 and closes the connection.
    Garbage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Get,
    Head,
    /// A path other than the configured one.
    NotFound,
    /// A method other than GET and HEAD.
    NotAllowed,
}

/// Parses the first request in `input`.
pub fn next(input: &[u8], path: &str) -> Next {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let head_bytes = match request.parse(input) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) if input.len() < HEAD_BYTES_MAX => return Next::Incomplete,
        _ => return Next::Garbage,
    };
    let (mut close, mut keep) = (false, false);
    for header in request.headers.iter() {
        let value = String::from_utf8_lossy(header.value).to_ascii_lowercase();
        match header.name.to_ascii_lowercase().as_str() {
            "connection" => {
                close |= value.split(',').any(|option| option.trim() == "close");
                keep |= value.split(',').any(|option| option.trim() == "keep-alive");
            }
            // No workload for clients has requests with a body.
            "transfer-encoding" => return Next::Garbage,
            "content-length" if value.trim() != "0" => return Next::Garbage,
            _ => {}
        }
    }
    let wanted = match (request.method, request.path) {
        (Some("GET"), Some(requested)) if requested == path => Wanted::Get,
        (Some("HEAD"), Some(requested)) if requested == path => Wanted::Head,
        (Some("GET" | "HEAD"), _) => Wanted::NotFound,
        _ => Wanted::NotAllowed,
    };
    Next::Request { head_bytes, wanted, close: close || (request.version == Some(0) && !keep) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Next {
        next(text.as_bytes(), "/data")
    }

    #[test]
    fn a_request_ends_with_its_head() {
        let text = "GET /data HTTP/1.1\r\nHost: x\r\n\r\n";
        let found = parsed(&format!("{text}GET /other"));
        assert_eq!(found, Next::Request { head_bytes: text.len(), wanted: Wanted::Get, close: false });
    }

    #[test]
    fn every_prefix_of_a_request_is_incomplete() {
        let text = "GET /data HTTP/1.1\r\nHost: x\r\n\r\n";
        assert!((0..text.len()).all(|end| parsed(&text[..end]) == Next::Incomplete));
    }

    #[test]
    fn distinguishes_methods_and_paths() {
        for (line, expected) in [
            ("HEAD /data", Wanted::Head),
            ("GET /", Wanted::NotFound),
            ("GET /data?x=1", Wanted::NotFound),
            ("HEAD /nope", Wanted::NotFound),
            ("POST /data", Wanted::NotAllowed),
        ] {
            let found = parsed(&format!("{line} HTTP/1.1\r\n\r\n"));
            assert!(matches!(found, Next::Request { wanted, .. } if wanted == expected), "{line}: {found:?}");
        }
    }

    #[test]
    fn the_client_decides_whether_the_connection_is_closed() {
        for (text, expected) in [
            ("GET /data HTTP/1.1\r\nConnection: Keep-Alive, Close\r\n\r\n", true),
            ("GET /data HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", false),
            ("GET /data HTTP/1.0\r\n\r\n", true),
            ("GET /data HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false),
        ] {
            assert!(matches!(parsed(text), Next::Request { close, .. } if close == expected), "{text}");
        }
    }

    #[test]
    fn requests_that_are_not_http_or_have_a_body_are_garbage() {
        for text in [
            "\u{1}\u{2}\u{3}\r\n\r\n",
            "GET /data HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
            "GET /data HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(parsed(text), Next::Garbage, "{text:?}");
        }
        assert_eq!(parsed(&format!("GET /{}", "a".repeat(HEAD_BYTES_MAX))), Next::Garbage);
    }
}

//! A tunnel through an HTTP proxy (CONNECT, RFC 9110, section 9.3.6) for any protocol.

use std::sync::Arc;

use super::http1::head;
use super::{Fault, Flow, ParserCounts, Protocol, Sink, Slot, TlsHandshakes};
use crate::figures::errors::ErrorKind;
use crate::figures::sample::Sample;
use crate::request::kind::MethodKind;

pub struct Tunnel<P> {
    inner: P,
    connect: Arc<[u8]>,
}

pub struct Session<S> {
    inner: S,
    /// Number of bytes of the CONNECT request that have been sent.
    connect_sent: usize,
    /// The proxy's response so far; `None` once the tunnel is open.
    response: Option<Vec<u8>>,
}

impl<P: Protocol> Tunnel<P> {
    /// Creates a tunnel to `authority`, the `host:port` that the proxy connects to.
    pub fn new(inner: P, authority: &str) -> Self {
        Self { inner, connect: format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n").into_bytes().into() }
    }
}

fn refused(reason: String) -> Fault {
    Fault { kind: ErrorKind::ConnectOther, reason: reason.into() }
}

/// Processes the next part of the proxy's response. Once the response is complete and successful, returns the bytes that follow the
/// response.
fn take_response<'a>(response: &mut Vec<u8>, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, Fault> {
    let before = response.len();
    response.extend_from_slice(bytes);
    let Some(end) = head::find_end(response, before.saturating_sub(3)) else {
        return if response.len() > head::HEAD_BYTES_MAX {
            Err(refused("the head of the proxy's response is longer than 64 KiB".to_owned()))
        } else {
            Ok(None)
        };
    };
    // Like a response to HEAD, a successful response to CONNECT has no body, even if it has a Content-Length.
    let status = head::parse(&response[..end], MethodKind::Head)?.status;
    if !(200..300).contains(&status) {
        return Err(refused(format!("the proxy refused CONNECT with status {status}")));
    }
    Ok(Some(&bytes[end - before..]))
}

impl<P> Tunnel<P> {
    /// Returns the unsent part of the CONNECT request. It may be nonempty even after the response, because a proxy may respond early.
    fn rest_of_connect<S>(&self, session: &Session<S>) -> &[u8] {
        &self.connect[session.connect_sent..]
    }
}

impl<P: Protocol> Protocol for Tunnel<P> {
    type Session = Session<P::Session>;

    fn open(&mut self) -> Self::Session {
        Session { inner: self.inner.open(), connect_sent: 0, response: Some(Vec::new()) }
    }

    fn ready(&self, session: &Self::Session) -> bool {
        session.response.is_none() && self.inner.ready(&session.inner)
    }

    fn request(&mut self, session: &mut Self::Session, slot: Slot) -> u16 {
        self.inner.request(&mut session.inner, slot)
    }

    fn prepare_output(&mut self, session: &mut Self::Session) {
        self.inner.prepare_output(&mut session.inner);
    }

    fn output<'a>(&'a self, session: &'a Self::Session) -> &'a [u8] {
        let rest = self.rest_of_connect(session);
        if session.response.is_some() || !rest.is_empty() { rest } else { self.inner.output(&session.inner) }
    }

    fn sent(&mut self, session: &mut Self::Session, count: usize) {
        if self.rest_of_connect(session).is_empty() {
            self.inner.sent(&mut session.inner, count);
        } else {
            session.connect_sent += count;
        }
    }

    fn stable_output(&self) -> bool {
        self.inner.stable_output()
    }

    /// Returns the inner protocol's maximum or the size of the CONNECT request, whichever is larger. The two are never in flight together,
    /// because no request is sent before the response to CONNECT.
    fn output_bytes_max(&self) -> usize {
        self.inner.output_bytes_max().max(self.connect.len())
    }

    fn abandon(&mut self, session: &mut Self::Session, slot: Slot) -> bool {
        self.inner.abandon(&mut session.inner, slot)
    }

    fn receive(&mut self, session: &mut Self::Session, bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault> {
        let Some(response) = &mut session.response else { return self.inner.receive(&mut session.inner, bytes, sink) };
        if session.connect_sent == 0 {
            return Err(Fault::invalid("the proxy sent a response before the CONNECT request"));
        }
        match take_response(response, bytes)? {
            None => Ok(Flow::Open),
            Some(rest) => {
                session.response = None;
                if rest.is_empty() { Ok(Flow::Open) } else { self.inner.receive(&mut session.inner, rest, sink) }
            }
        }
    }

    fn end_of_stream(&mut self, session: &mut Self::Session, sink: &mut impl Sink) -> Fault {
        if session.response.is_some() {
            return refused("the proxy closed the connection before responding to CONNECT".to_owned());
        }
        self.inner.end_of_stream(&mut session.inner, sink)
    }

    fn reset(&mut self, session: &mut Self::Session, sink: &mut impl Sink) -> Fault {
        self.inner.reset(&mut session.inner, sink)
    }

    fn skippable(&self, session: &Self::Session) -> usize {
        if session.response.is_some() { 0 } else { self.inner.skippable(&session.inner) }
    }

    fn skip(&mut self, session: &mut Self::Session, count: usize, sink: &mut impl Sink) -> Result<Flow, Fault> {
        self.inner.skip(&mut session.inner, count, sink)
    }

    fn parser_counts(&self) -> ParserCounts {
        self.inner.parser_counts()
    }

    fn sample_next(&mut self) {
        self.inner.sample_next();
    }

    fn take_samples(&mut self) -> Vec<Sample> {
        self.inner.take_samples()
    }

    fn tls_handshakes(&self) -> Option<TlsHandshakes> {
        self.inner.tls_handshakes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::http1::Http1;
    use super::*;
    use crate::request::Requests;
    use crate::request::expectation::Expectation;
    use crate::request::kind::MethodKind;
    use crate::request::kind::RequestKind;

    const ACCEPTED: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

    fn tunnel() -> Tunnel<Http1> {
        let kind = RequestKind::fixed(b"GET / HTTP/1.1\r\n\r\n".to_vec(), MethodKind::Other, Expectation::default());
        Tunnel::new(Http1::new(Requests::new(vec![kind], &[1], 1)), "host:1")
    }

    #[test]
    fn connect_is_sent_completely_despite_an_early_response() {
        let mut tunnel = tunnel();
        let mut session = tunnel.open();
        let connect = tunnel.output(&session).to_vec();
        tunnel.sent(&mut session, 10);
        assert_eq!(tunnel.receive(&mut session, ACCEPTED, &mut Vec::new()), Ok(Flow::Open));
        tunnel.request(&mut session, 0);
        assert_eq!(tunnel.output(&session), &connect[10..]);
        tunnel.sent(&mut session, connect.len() - 10);
        assert!(tunnel.output(&session).starts_with(b"GET / "));
    }

    #[test]
    fn rejects_a_response_before_the_request() {
        let mut tunnel = tunnel();
        let mut session = tunnel.open();
        assert!(tunnel.receive(&mut session, ACCEPTED, &mut Vec::new()).is_err());
    }
}

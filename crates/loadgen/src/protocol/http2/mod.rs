//! HTTP/2 (RFC 9113) on the h2 crate, with prior knowledge or over TLS with ALPN.
//!
//! h2 is written for an executor; here its connection is polled by hand, over memory, whenever bytes came or a request starts. That costs
//! more than HTTP/1.1 does and is bounded by the streams in flight on one connection.

mod pipe;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use pipe::Pipe;

use super::http1::body::{BodyCheck, Expectation, outcome};
use super::{Fault, Flow, Outcome, ParserCounts, Protocol, Sink, Slot};
use crate::errors::ErrorKind;
use crate::request::{RequestKind, Requests};

const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;

pub struct Http2 {
    requests: Requests,
    counts: ParserCounts,
}

pub struct Session {
    pipe: Pipe,
    /// What was moved out of the pipe to be sent.
    out: Vec<u8>,
    connection: Pin<Box<Connection<Pipe, Bytes>>>,
    sender: SendRequest<Bytes>,
    /// Requests that wait because the server allows no more streams.
    waiting: VecDeque<(Slot, u16)>,
    streams: Vec<Stream>,
}

struct Stream {
    slot: Slot,
    kind: u16,
    state: StreamState,
}

enum StreamState {
    Head(ResponseFuture),
    Body { body: RecvStream, check: BodyCheck, status_is_right: bool },
}

impl Http2 {
    pub fn new(requests: Requests) -> Self {
        Self { requests, counts: ParserCounts::default() }
    }

    /// Lets the connection and its streams do all that they can; reports what is complete.
    fn pump(&mut self, session: &mut Session, sink: &mut impl Sink) -> Result<Flow, Fault> {
        let mut context = Context::from_waker(Waker::noop());
        let before = session.connection.as_mut().poll(&mut context);
        self.start_waiting(session, &mut context)?;
        let mut at = 0;
        while at < session.streams.len() {
            let stream = &mut session.streams[at];
            let kind = &self.requests.kinds()[usize::from(stream.kind)];
            match poll_stream(stream, &kind.expectation, &mut context)? {
                Poll::Pending => at += 1,
                Poll::Ready(outcome) => {
                    self.counts.full += 1;
                    let stream = session.streams.swap_remove(at);
                    sink.complete(stream.slot, outcome);
                }
            }
        }
        // Windows that the streams have opened are announced by the connection.
        let after = if before.is_pending() { session.connection.as_mut().poll(&mut context) } else { before };
        let output = std::mem::take(&mut session.pipe.0.borrow_mut().output);
        session.out.extend_from_slice(&output);
        match after {
            Poll::Pending => Ok(Flow::Open),
            Poll::Ready(Ok(())) => Ok(Flow::Close),
            Poll::Ready(Err(error)) => Err(fault(&error)),
        }
    }

    fn start_waiting(&mut self, session: &mut Session, context: &mut Context<'_>) -> Result<(), Fault> {
        while !session.waiting.is_empty() {
            match session.sender.poll_ready(context) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Err(error)) => return Err(fault(&error)),
                Poll::Ready(Ok(())) => {}
            }
            let Some((slot, kind)) = session.waiting.pop_front() else { return Ok(()) };
            let response = send(&mut session.sender, &self.requests.kinds()[usize::from(kind)]).map_err(|error| fault(&error))?;
            session.streams.push(Stream { slot, kind, state: StreamState::Head(response) });
        }
        Ok(())
    }
}

fn send(sender: &mut SendRequest<Bytes>, kind: &RequestKind) -> Result<ResponseFuture, h2::Error> {
    let Some(request) = &kind.structured else { unreachable!("HTTP/2 is planned with structured requests only") };
    let (response, mut stream) = sender.send_request(request.head.clone(), request.body.is_empty())?;
    if !request.body.is_empty() {
        stream.send_data(request.body.clone(), true)?;
    }
    Ok(response)
}

/// Takes in what came for one stream.
fn poll_stream(stream: &mut Stream, expectation: &Expectation, context: &mut Context<'_>) -> Result<Poll<Outcome>, Fault> {
    loop {
        match &mut stream.state {
            StreamState::Head(response) => match Pin::new(response).poll(context) {
                Poll::Pending => return Ok(Poll::Pending),
                Poll::Ready(Err(error)) => return stream_over(&error),
                Poll::Ready(Ok(response)) => {
                    let status_is_right = expectation.status_is_right(response.status().as_u16());
                    stream.state =
                        StreamState::Body { body: response.into_body(), check: BodyCheck::new(&expectation.body), status_is_right };
                }
            },
            StreamState::Body { body, check, status_is_right } => match body.poll_data(context) {
                Poll::Pending => return Ok(Poll::Pending),
                Poll::Ready(None) => return Ok(Poll::Ready(outcome(*status_is_right, check.finish(&expectation.body)))),
                Poll::Ready(Some(Err(error))) => return stream_over(&error),
                Poll::Ready(Some(Ok(piece))) => {
                    check.update(&expectation.body, &piece);
                    body.flow_control().release_capacity(piece.len()).map_err(|error| fault(&error))?;
                }
            },
        }
    }
}

/// A stream that was reset, by the server or by us for what it sent, is over; the others on its connection go on (RFC 9113, 5.4.2).
fn stream_over(error: &h2::Error) -> Result<Poll<Outcome>, Fault> {
    let fault = fault(error);
    if error.is_reset() { Ok(Poll::Ready(Outcome::Failed(fault.kind))) } else { Err(fault) }
}

fn fault(error: &h2::Error) -> Fault {
    let kind = match error.reason() {
        _ if error.is_io() => ErrorKind::ClosedEarly,
        Some(Reason::NO_ERROR) => ErrorKind::ClosedEarly,
        _ if error.is_remote() => ErrorKind::Reset,
        _ => ErrorKind::InvalidResponse,
    };
    Fault { kind, reason: error.to_string().into() }
}

/// The client's side of the handshake only writes, so it is over at once.
fn handshake(pipe: Pipe) -> (SendRequest<Bytes>, Connection<Pipe, Bytes>) {
    let mut builder = Builder::new();
    builder.initial_window_size(STREAM_WINDOW_BYTES).initial_connection_window_size(CONNECTION_WINDOW_BYTES).enable_push(false);
    let mut handshake = Box::pin(builder.handshake(pipe));
    match handshake.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(both)) => both,
        Poll::Ready(Err(error)) => unreachable!("writing to memory does not fail: {error}"),
        Poll::Pending => unreachable!("writing to memory does not wait"),
    }
}

impl Protocol for Http2 {
    type Session = Session;

    fn open(&mut self) -> Session {
        let pipe = Pipe::default();
        let (sender, connection) = handshake(pipe.clone());
        let out = std::mem::take(&mut pipe.0.borrow_mut().output);
        Session { pipe, out, connection: Box::pin(connection), sender, waiting: VecDeque::new(), streams: Vec::new() }
    }

    fn ready(&self, _session: &Session) -> bool {
        true
    }

    fn request(&mut self, session: &mut Session, slot: Slot) {
        let kind = self.requests.next_kind();
        session.waiting.push_back((slot, kind));
        // Nothing completes without input. A connection that has failed says so when its input ends.
        let _ = self.pump(session, &mut Vec::new());
    }

    fn output<'a>(&'a self, session: &'a Session) -> &'a [u8] {
        &session.out
    }

    fn sent(&mut self, session: &mut Session, count: usize) {
        session.out.drain(..count);
    }

    fn stable_output(&self) -> bool {
        false
    }

    fn receive(&mut self, session: &mut Session, bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault> {
        session.pipe.0.borrow_mut().input.extend_from_slice(bytes);
        self.pump(session, sink)
    }

    fn end_of_stream(&mut self, session: &mut Session, sink: &mut impl Sink) -> Fault {
        session.pipe.0.borrow_mut().ended = true;
        let early = Fault::closed_early("the connection was closed before the response was complete");
        self.pump(session, sink).err().unwrap_or(early)
    }

    fn skippable(&self, _session: &Session) -> usize {
        0
    }

    fn skip(&mut self, _session: &mut Session, _count: usize, _sink: &mut impl Sink) -> Result<Flow, Fault> {
        Err(Fault::invalid("framed bytes cannot be skipped"))
    }

    fn parser_counts(&self) -> ParserCounts {
        self.counts
    }
}

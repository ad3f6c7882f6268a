//! HTTP/2 (RFC 9113) on the h2 crate, with prior knowledge or over TLS with ALPN.
//!
//! h2 is written for an executor; here its connection is polled by hand, over memory, whenever bytes came or a request starts. That costs
//! more than HTTP/1.1 does and is bounded by the streams in flight on one connection.

mod news;
mod pipe;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use news::News;
use pipe::Pipe;

use super::body::{BodyCheck, outcome};
use super::{Fault, Flow, Outcome, ParserCounts, Protocol, Sink, Slot};
use crate::figures::errors::ErrorKind;
use crate::request::Requests;
use crate::request::expectation::Expectation;
use crate::request::kind::RequestKind;

const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Streams that were given up and whose responses may still come: h2 remembers so many, for a second each.
const ABANDONED_MAX: usize = 1024;

pub struct Http2 {
    requests: Requests,
    counts: ParserCounts,
}

pub struct Session {
    pipe: Pipe,
    /// What was moved out of the pipe to be sent, and how much of it was sent.
    out: Vec<u8>,
    out_sent: usize,
    connection: Pin<Box<Connection<Pipe, Bytes>>>,
    sender: SendRequest<Bytes>,
    /// Whether there is something that only polling the connection turns into output.
    stirred: bool,
    /// Requests that were not sent yet, or wait because the server allows no more streams.
    waiting: VecDeque<(Slot, u16)>,
    /// By slot.
    streams: Vec<Option<Stream>>,
    in_flight: usize,
    /// Why a request could not be sent; heard of when something comes.
    failure: Option<Fault>,
    news: News,
}

struct Stream {
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

    /// Takes in all that came; reports what is over.
    fn hear(&mut self, session: &mut Session, sink: &mut impl Sink) -> Result<Flow, Fault> {
        let polled = session.connection.as_mut().poll(&mut noop());
        // Windows that the streams open are announced when output is prepared.
        session.stirred = true;
        self.hear_streams(session, sink)?;
        if let Some(failure) = session.failure.take() {
            return Err(failure);
        }
        match polled {
            Poll::Ready(Err(error)) => Err(fault(&error)),
            Poll::Ready(Ok(())) => Ok(Flow::Close),
            // After GOAWAY, or when all numbers of streams are used up.
            Poll::Pending if matches!(session.sender.poll_ready(&mut noop()), Poll::Ready(Err(_))) => {
                session.return_waiting(sink);
                Ok(if session.in_flight == 0 { Flow::Close } else { Flow::Drain })
            }
            Poll::Pending => Ok(Flow::Open),
        }
    }

    /// Asks the streams that have news.
    fn hear_streams(&mut self, session: &mut Session, sink: &mut impl Sink) -> Result<(), Fault> {
        let mut heard = Ok(());
        let slots = session.news.take();
        for &slot in &slots {
            let Some(stream) = &mut session.streams[usize::from(slot)] else { continue };
            let expectation = &self.requests.kinds()[usize::from(stream.kind)].expectation;
            match poll_stream(stream, expectation, &mut Context::from_waker(session.news.waker(slot))) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(outcome)) => {
                    self.counts.full += u64::from(outcome.is_complete());
                    session.streams[usize::from(slot)] = None;
                    session.in_flight -= 1;
                    sink.complete(slot, outcome);
                }
                // What other streams have to say counts all the same.
                Err(fault) => heard = Err(fault),
            }
        }
        session.news.give_back(slots);
        heard
    }

    fn start_waiting(&mut self, session: &mut Session) {
        while !session.waiting.is_empty() && matches!(session.sender.poll_ready(&mut noop()), Poll::Ready(Ok(()))) {
            let Some((slot, kind)) = session.waiting.pop_front() else { return };
            let response = match send(&mut session.sender, &self.requests.kinds()[usize::from(kind)]) {
                Ok(response) => response,
                Err(error) => {
                    session.failure = Some(fault(&error));
                    return;
                }
            };
            let at = usize::from(slot);
            if session.streams.len() <= at {
                session.streams.resize_with(at + 1, || None);
            }
            session.streams[at] = Some(Stream { kind, state: StreamState::Head(response) });
            session.in_flight += 1;
            // It is asked once without having news, so that it knows whom to tell.
            session.news.note(slot);
        }
    }
}

impl Session {
    /// Reports what was never sent.
    fn return_waiting(&mut self, sink: &mut impl Sink) {
        for (slot, _) in self.waiting.drain(..) {
            sink.complete(slot, Outcome::Unprocessed);
        }
    }
}

/// Whoever brings bytes polls again: no waker is needed.
fn noop() -> Context<'static> {
    Context::from_waker(Waker::noop())
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
                Poll::Ready(Err(error)) if is_unprocessed(&error) => return Ok(Poll::Ready(Outcome::Unprocessed)),
                Poll::Ready(Err(error)) => return stream_over(&error),
                Poll::Ready(Ok(response)) => {
                    let status_is_right = expectation.status_is_correct(response.status().as_u16());
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

/// Whether the server says that it has not processed the request: h2 reports a remote GOAWAY on streams above its last one only. A GOAWAY
/// with an error is a failure, whatever was processed.
fn is_unprocessed(error: &h2::Error) -> bool {
    error.is_remote()
        && if error.is_go_away() { error.reason() == Some(Reason::NO_ERROR) } else { error.reason() == Some(Reason::REFUSED_STREAM) }
}

/// A stream that was reset, by the server or by us for what it sent, is over; the others on its connection go on (RFC 9113, 5.4.2).
fn stream_over(error: &h2::Error) -> Result<Poll<Outcome>, Fault> {
    let fault = fault(error);
    let alone = error.is_reset() || (error.is_go_away() && error.is_remote());
    if alone { Ok(Poll::Ready(Outcome::Failed(fault.kind))) } else { Err(fault) }
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
    // A late response to a stream that was given up must never end the connection.
    builder.max_concurrent_reset_streams(ABANDONED_MAX).max_local_error_reset_streams(None);
    let mut handshake = Box::pin(builder.handshake(pipe));
    match handshake.as_mut().poll(&mut noop()) {
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
        Session {
            pipe,
            out,
            out_sent: 0,
            connection: Box::pin(connection),
            sender,
            stirred: false,
            waiting: VecDeque::new(),
            streams: Vec::new(),
            in_flight: 0,
            failure: None,
            news: News::default(),
        }
    }

    fn ready(&self, _session: &Session) -> bool {
        true
    }

    fn request(&mut self, session: &mut Session, slot: Slot) {
        let kind = self.requests.next_kind();
        session.waiting.push_back((slot, kind));
        session.stirred = true;
    }

    fn abandon(&mut self, session: &mut Session, slot: Slot) -> bool {
        match session.streams.get_mut(usize::from(slot)).and_then(Option::take) {
            // To drop a stream that is not over is to reset it with CANCEL.
            Some(_) => session.in_flight -= 1,
            None => session.waiting.retain(|(waiting, _)| *waiting != slot),
        }
        session.stirred = true;
        true
    }

    fn prepare_output(&mut self, session: &mut Session) {
        if !std::mem::take(&mut session.stirred) {
            return;
        }
        self.start_waiting(session);
        // Nothing ends without input. A connection that has failed says so when something comes.
        let _ = session.connection.as_mut().poll(&mut noop());
        let output = &mut session.pipe.0.borrow_mut().output;
        if session.out.is_empty() {
            std::mem::swap(&mut session.out, output);
        } else {
            session.out.append(output);
        }
    }

    fn output<'a>(&'a self, session: &'a Session) -> &'a [u8] {
        &session.out[session.out_sent..]
    }

    fn sent(&mut self, session: &mut Session, count: usize) {
        session.out_sent += count;
        if session.out_sent == session.out.len() {
            session.out.clear();
            session.out_sent = 0;
        }
    }

    fn stable_output(&self) -> bool {
        false
    }

    fn receive(&mut self, session: &mut Session, bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault> {
        session.pipe.0.borrow_mut().input.extend_from_slice(bytes);
        let flow = self.hear(session, sink);
        if !matches!(flow, Ok(Flow::Open | Flow::Drain)) {
            session.return_waiting(sink);
        }
        flow
    }

    fn end_of_stream(&mut self, session: &mut Session, sink: &mut impl Sink) -> Fault {
        session.pipe.0.borrow_mut().ended = true;
        let early = Fault::closed_early("the connection was closed before the response was complete");
        let heard = self.hear(session, sink);
        session.return_waiting(sink);
        heard.err().unwrap_or(early)
    }

    fn reset(&mut self, session: &mut Session, sink: &mut impl Sink) -> Fault {
        session.return_waiting(sink);
        Fault { kind: ErrorKind::Reset, reason: "the connection was reset".into() }
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

//! The client side of HTTP/1.1 (RFC 9112), with and without pipelining.
//!
//! The common case needs no allocation and no copy. Requests are sent from a single buffer with several copies of the request, back to
//! back. A response that arrives in one piece is checked in place. Only a head that arrives in several pieces is copied into a buffer of
//! its connection.
//!
//! A response may be complete before its request has been sent completely, because a server that rejects a large body can respond after
//! reading the head. If the connection stays open, the server must still read the whole request (RFC 9112, section 9.3), so this client
//! sends the rest before the next request. A response is an error if no byte of its request has been sent.

mod chunked;
pub mod head;
mod shortcut;

use std::collections::VecDeque;

use chunked::Chunked;
use head::{Framing, HEAD_BYTES_MAX};
use shortcut::KnownHead;

use super::body::{BodyCheck, outcome};
use super::events::{self, EventParser};
use super::sampler::{Kept, Sampler};
use super::{Fault, Flow, Outcome, ParserCounts, Protocol, Sink, Slot};
use crate::figures::sample::Sample;
use crate::request::Requests;
use crate::request::kind::{Awaited, MethodKind};
use crate::request::queue::Queue;

/// Maximum number of interim (1xx) responses before the final one.
const INTERIM_RESPONSES_MAX: u8 = 16;

pub struct Http1 {
    requests: Requests,
    /// The known response heads of each part of the load: that of a response to HEAD, and that of any other response.
    known: Vec<[Option<KnownHead>; 2]>,
    counts: ParserCounts,
    sampler: Sampler,
}

pub struct Session {
    pending: VecDeque<Pending>,
    phase: Phase,
    /// The beginning of an incomplete head.
    carry: Vec<u8>,
    interim: u8,
    queue: Queue,
}

#[derive(Clone, Copy)]
struct Pending {
    slot: Slot,
    /// Index of the request.
    kind: u32,
}

enum Phase {
    Head,
    Body(Box<Body>),
    /// A body of known length whose content isn't checked.
    Skip {
        remaining: u64,
        status_is_correct: bool,
    },
}

struct Body {
    framing: BodyFraming,
    check: BodyCheck,
    status_is_correct: bool,
    keep_alive: bool,
    /// The part of the response kept so far, if this response is a sample.
    kept: Option<Box<Kept>>,
    /// The parser of the event stream, if the response is one.
    events: Option<Box<EventParser>>,
}

enum BodyFraming {
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

/// The result of one parsing step.
enum Step {
    Used(usize),
    /// The response ended after this many bytes.
    Complete(usize, Outcome, Flow),
}

impl Http1 {
    pub fn new(requests: Requests) -> Self {
        let known = (0..requests.parts().len().max(1)).map(|_| [None, None]).collect();
        let sampler = Sampler::new(requests.all_awaited());
        Self { requests, known, counts: ParserCounts::default(), sampler }
    }

    #[inline]
    fn known(&mut self, kind: u32) -> &mut Option<KnownHead> {
        let Awaited { part, method_kind, .. } = self.requests.awaited(kind);
        &mut self.known[usize::from(*part)][usize::from(*method_kind == MethodKind::Head)]
    }

    #[inline]
    fn step(&mut self, session: &mut Session, bytes: &[u8], sink: &mut impl Sink) -> Result<Step, Fault> {
        let Some(pending) = session.pending.front().copied() else {
            return Err(Fault::invalid("a response without a request"));
        };
        if !session.queue.is_empty() && self.front_is_unsent(session) {
            return Err(Fault::invalid("a response arrived before its request was sent"));
        }
        match &mut session.phase {
            Phase::Head if session.carry.is_empty() => self.head_in_place(session, pending.kind, bytes),
            Phase::Head => self.head_in_parts(session, pending.kind, bytes),
            Phase::Skip { remaining, status_is_correct } => {
                let take = (bytes.len() as u64).min(*remaining);
                *remaining -= take;
                if *remaining > 0 {
                    return Ok(Step::Used(take as usize));
                }
                let status_is_correct = *status_is_correct;
                session.phase = Phase::Head;
                Ok(Step::Complete(take as usize, outcome(status_is_correct, true), Flow::Open))
            }
            Phase::Body(_) => self.body(session, pending, bytes, sink),
        }
    }

    /// Returns whether the oldest pending request is entirely unsent. A response to a partially sent request is valid, because a server may
    /// respond after it has read the head.
    ///
    /// The queue contains all unsent bytes. It may begin with the rest of a request that was answered early, and it ends with the pending
    /// requests. If the queue is at least as long as all pending requests together, it therefore contains all of the oldest pending
    /// request.
    #[cold]
    fn front_is_unsent(&self, session: &Session) -> bool {
        let pending_bytes: usize = session.pending.iter().map(|pending| self.requests.kinds()[pending.kind as usize].bytes.len()).sum();
        pending_bytes <= session.queue.bytes()
    }

    #[inline]
    fn head_in_place(&mut self, session: &mut Session, kind: u32, bytes: &[u8]) -> Result<Step, Fault> {
        if let Some(known) = self.known(kind)
            && let Some(head_length) = known.recognize(bytes)
        {
            let (status, length) = (known.status, known.length);
            self.counts.fast += 1;
            session.interim = 0;
            return Ok(self.begin_sized_body(session, kind, status, length, &bytes[head_length..], head_length));
        }
        match head::find_end(bytes, 0) {
            Some(end) => {
                self.full_head(session, kind, &bytes[..end])?;
                Ok(self.after_head(session, end))
            }
            None => carry(session, bytes),
        }
    }

    /// Checks a body immediately if all of it arrived with the head. Otherwise, stores the progress in the session.
    #[inline]
    fn begin_sized_body(&self, session: &mut Session, kind: u32, status: u16, length: u64, rest: &[u8], head_length: usize) -> Step {
        let expectation = &self.requests.awaited(kind).expectation;
        let status_is_correct = expectation.status_is_correct(status);
        if expectation.checks_body() {
            let mut check = BodyCheck::new(&expectation.body);
            if length <= rest.len() as u64 {
                check.update(&expectation.body, &rest[..length as usize]);
                let body_is_correct = check.finish(&expectation.body);
                return Step::Complete(head_length + length as usize, outcome(status_is_correct, body_is_correct), Flow::Open);
            }
            let framing = BodyFraming::Length(length);
            session.phase = Phase::Body(Box::new(Body { framing, check, status_is_correct, keep_alive: true, kept: None, events: None }));
            return Step::Used(head_length);
        }
        if length <= rest.len() as u64 {
            return Step::Complete(head_length + length as usize, outcome(status_is_correct, true), Flow::Open);
        }
        session.phase = Phase::Skip { remaining: length - rest.len() as u64, status_is_correct };
        Step::Used(head_length + rest.len())
    }

    /// Handles a head whose first part arrived earlier.
    fn head_in_parts(&mut self, session: &mut Session, kind: u32, bytes: &[u8]) -> Result<Step, Fault> {
        let before = session.carry.len();
        let take = bytes.len().min(HEAD_BYTES_MAX + 1 - before.min(HEAD_BYTES_MAX));
        session.carry.extend_from_slice(&bytes[..take]);
        let Some(end) = head::find_end(&session.carry, before.saturating_sub(3)) else {
            return if session.carry.len() > HEAD_BYTES_MAX { Err(TOO_LONG) } else { Ok(Step::Used(take)) };
        };
        let mut whole = std::mem::take(&mut session.carry);
        whole.truncate(end);
        let parsed = self.full_head(session, kind, &whole);
        whole.clear();
        session.carry = whole;
        parsed?;
        Ok(self.after_head(session, end - before))
    }

    /// Parses a complete head. After a final head, switches to the phase that reads the body.
    fn full_head(&mut self, session: &mut Session, kind: u32, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.len() > HEAD_BYTES_MAX {
            return Err(TOO_LONG);
        }
        let awaited = self.requests.awaited(kind);
        let head = head::parse(bytes, awaited.method_kind)?;
        if head.status < 200 {
            session.interim += 1;
            if head.status == 101 || session.interim > INTERIM_RESPONSES_MAX {
                return Err(Fault::invalid("an unexpected upgrade (status 101), or too many interim responses"));
            }
            return Ok(());
        }
        session.interim = 0;
        self.counts.full += 1;
        let framing = match head.framing {
            Framing::Length(length) => BodyFraming::Length(length),
            Framing::Chunked => BodyFraming::Chunked(Chunked::new()),
            Framing::UntilClose => BodyFraming::UntilClose,
        };
        let expectation = &awaited.expectation;
        let is_event_stream = expectation.is_event_stream();
        if is_event_stream {
            events::check(expectation.status_is_correct(head.status), head.is_event_stream)?;
        }
        session.phase = Phase::Body(Box::new(Body {
            framing,
            check: BodyCheck::new(&expectation.body),
            status_is_correct: expectation.status_is_correct(head.status),
            keep_alive: head.keep_alive,
            kept: self.sampler.begin(kind, awaited.part, head.status, bytes),
            events: is_event_stream.then(|| Box::new(EventParser::new())),
        }));
        // A known head leads to a body without an event parser.
        *self.known(kind) = if is_event_stream { None } else { KnownHead::learn(bytes, &head) };
        Ok(())
    }

    /// Completes the response if its body is empty.
    fn after_head(&mut self, session: &mut Session, used: usize) -> Step {
        match &session.phase {
            Phase::Body(body) if matches!(body.framing, BodyFraming::Length(0)) => {
                let kind = session.pending.front().map_or(0, |pending| pending.kind);
                match self.finish_body(session, kind) {
                    Some((outcome, flow)) => Step::Complete(used, outcome, flow),
                    None => Step::Used(used),
                }
            }
            _ => Step::Used(used),
        }
    }

    fn body(&mut self, session: &mut Session, pending: Pending, bytes: &[u8], sink: &mut impl Sink) -> Result<Step, Fault> {
        let Phase::Body(body) = &mut session.phase else { return Err(Fault::invalid("no body has begun")) };
        let Pending { slot, kind } = pending;
        let expectation = &self.requests.awaited(kind).expectation.body;
        let (check, kept, events) = (&mut body.check, &mut body.kept, &mut body.events);
        let mut take_in = |piece: &[u8]| {
            check.update(expectation, piece);
            if let Some(kept) = kept {
                kept.take_in(piece);
            }
            if let Some(events) = events {
                events.parse(piece, |block| sink.event(slot, block));
            }
        };
        let (used, done) = match &mut body.framing {
            BodyFraming::Length(remaining) => {
                let take = (bytes.len() as u64).min(*remaining) as usize;
                take_in(&bytes[..take]);
                *remaining -= take as u64;
                (take, *remaining == 0)
            }
            BodyFraming::Chunked(chunked) => (chunked.decode(bytes, take_in)?, chunked.done()),
            BodyFraming::UntilClose => {
                take_in(bytes);
                (bytes.len(), false)
            }
        };
        Ok(match done.then(|| self.finish_body(session, kind)).flatten() {
            Some((outcome, flow)) => Step::Complete(used, outcome, flow),
            None => Step::Used(used),
        })
    }

    fn finish_body(&mut self, session: &mut Session, kind: u32) -> Option<(Outcome, Flow)> {
        let Phase::Body(mut body) = std::mem::replace(&mut session.phase, Phase::Head) else { return None };
        if let Some(kept) = body.kept.take() {
            self.sampler.keep(*kept);
        }
        let body_is_correct = body.check.finish(&self.requests.awaited(kind).expectation.body);
        let flow = if body.keep_alive { Flow::Open } else { Flow::Close };
        Some((outcome(body.status_is_correct, body_is_correct), flow))
    }
}

const TOO_LONG: Fault = Fault::invalid("the head is longer than 64 KiB");

fn carry(session: &mut Session, bytes: &[u8]) -> Result<Step, Fault> {
    if bytes.len() > HEAD_BYTES_MAX {
        return Err(TOO_LONG);
    }
    session.carry.extend_from_slice(bytes);
    Ok(Step::Used(bytes.len()))
}

impl Protocol for Http1 {
    type Session = Session;

    fn open(&mut self) -> Session {
        Session { pending: VecDeque::new(), phase: Phase::Head, carry: Vec::new(), interim: 0, queue: Queue::default() }
    }

    fn ready(&self, _session: &Session) -> bool {
        true
    }

    #[inline]
    fn request(&mut self, session: &mut Session, slot: Slot) -> u16 {
        let kind = self.requests.queue_next(&mut session.queue);
        session.pending.push_back(Pending { slot, kind });
        self.requests.awaited(kind).part
    }

    #[inline]
    fn output<'a>(&'a self, session: &'a Session) -> &'a [u8] {
        self.requests.output(&session.queue)
    }

    #[inline]
    fn sent(&mut self, session: &mut Session, count: usize) {
        self.requests.sent(&mut session.queue, count);
    }

    fn stable_output(&self) -> bool {
        self.requests.are_stable()
    }

    fn output_bytes_max(&self) -> usize {
        self.requests.in_flight_bytes_max()
    }

    #[inline]
    fn receive(&mut self, session: &mut Session, mut bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault> {
        while !bytes.is_empty() {
            match self.step(session, bytes, sink)? {
                Step::Used(used) => {
                    bytes = &bytes[used..];
                    if bytes.is_empty()
                        && let Some(pending) = session.pending.front()
                    {
                        sink.begin(pending.slot);
                    }
                }
                Step::Complete(used, outcome, flow) => {
                    bytes = &bytes[used..];
                    if !bytes.is_empty() && (session.pending.len() == 1 || flow == Flow::Close) {
                        return Err(Fault::invalid("the server sent bytes after the end of the response"));
                    }
                    if let Some(pending) = session.pending.pop_front() {
                        sink.complete(pending.slot, outcome);
                    }
                    if flow == Flow::Close {
                        return Ok(Flow::Close);
                    }
                }
            }
        }
        Ok(Flow::Open)
    }

    fn end_of_stream(&mut self, session: &mut Session, sink: &mut impl Sink) -> Fault {
        let until_close = matches!(&session.phase, Phase::Body(body) if matches!(body.framing, BodyFraming::UntilClose));
        if until_close
            && let Some(pending) = session.pending.pop_front()
            && let Some((outcome, _)) = self.finish_body(session, pending.kind)
        {
            sink.complete(pending.slot, outcome);
        }
        Fault::closed_early("the connection was closed before the response was complete")
    }

    fn skippable(&self, session: &Session) -> usize {
        match &session.phase {
            Phase::Skip { remaining, .. } => usize::try_from(*remaining).unwrap_or(usize::MAX),
            Phase::Head | Phase::Body(_) => 0,
        }
    }

    fn skip(&mut self, session: &mut Session, count: usize, sink: &mut impl Sink) -> Result<Flow, Fault> {
        let Phase::Skip { remaining, status_is_correct } = &mut session.phase else {
            return Err(Fault::invalid("bytes were skipped outside of a body"));
        };
        *remaining -= count as u64;
        if *remaining == 0 {
            let outcome = outcome(*status_is_correct, true);
            session.phase = Phase::Head;
            if let Some(pending) = session.pending.pop_front() {
                sink.complete(pending.slot, outcome);
            }
        }
        Ok(Flow::Open)
    }

    fn parser_counts(&self) -> ParserCounts {
        self.counts
    }

    /// Makes the next response of one part of the load go through the full parser. Only the full parser keeps samples, so they don't slow down the
    /// shortcut.
    fn sample_next(&mut self) {
        if let Some(part) = self.sampler.arm() {
            self.known[usize::from(part)] = [None, None];
        }
    }

    fn take_samples(&mut self) -> Vec<Sample> {
        self.sampler.take()
    }
}

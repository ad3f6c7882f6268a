//! A client for HTTP/2 (RFC 9113), with prior knowledge or over TLS with ALPN. It implements only what a load generator needs.
//!
//! The client is strict and rejects everything that the RFC allows a client to reject. A stream error ends the stream; any other error ends
//! the connection. After the first request and response on a connection, similar requests and responses need no memory allocation.

mod flow;
mod frame;
mod head;
mod hpack;
mod known;
mod output;
mod receive;
mod send;
mod settings;
mod streams;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::sampler::{Kept, Sampler};
use super::{Fault, Flow, Outcome, ParserCounts, Protocol, Sink, Slot};
use crate::figures::errors::ErrorKind;
use crate::figures::sample::Sample;
use crate::request::Requests;
use crate::request::kind::{Awaited, RequestKind, Structured};
use flow::{ReceiveWindow, SendWindow, WINDOW_DEFAULT};
use hpack::{Decoder, Encoder, Fields};
use known::KnownBlock;
use output::Output;
use receive::HeaderBlock;
use settings::Settings;
use streams::Streams;

/// The highest stream ID that this client uses. It leaves a large margin below the highest ID that the protocol allows.
const STREAM_LAST: u32 = frame::STREAM_MAX - 2 * (Slot::MAX as u32 + 1);

pub struct Http2 {
    requests: Requests,
    /// The header fields of all requests.
    fields: Fields,
    counts: ParserCounts,
    sampler: Sampler,
}

pub struct Session {
    output: Output,
    /// The beginning of an incomplete frame.
    carry: Vec<u8>,
    /// A header block whose remaining frames haven't arrived yet.
    block: Option<HeaderBlock>,
    decoder: Decoder,
    encoder: Encoder,
    /// The known header block for each part of the load.
    known: Vec<KnownBlock>,
    server: Settings,
    /// Whether the server has acknowledged this client's settings.
    acknowledged: bool,
    receive_window: ReceiveWindow,
    send_window: SendWindow,
    /// ID of the next stream.
    next_id: u32,
    streams: Streams,
    /// Requests that haven't been sent yet, for example because the server doesn't allow more streams.
    waiting: VecDeque<(Slot, u32)>,
    /// Slots of the streams whose request body hasn't been added to the output completely.
    sending: Vec<Slot>,
    /// The response that is being kept as a sample, and the ID of its stream. If the stream fails, the next sample replaces it.
    sampled: Option<(u32, Box<Kept>)>,
    /// ID of the last stream that the server will process; `None` until the server has announced this ID.
    last_stream: Option<u32>,
}

impl Http2 {
    pub fn new(requests: Requests) -> Self {
        let fields = Fields::new(requests.kinds().iter().map(|kind| structured(kind).fields.clone()));
        let sampler = Sampler::new(requests.all_awaited());
        Self { requests, fields, counts: ParserCounts::default(), sampler }
    }

    #[inline]
    fn structured(&self, kind: u32) -> &Structured {
        structured(&self.requests.kinds()[kind as usize])
    }

    #[inline]
    fn awaited(&self, kind: u32) -> &Awaited {
        self.requests.awaited(kind)
    }
}

fn structured(kind: &RequestKind) -> &Structured {
    let Some(structured) = &kind.structured else { unreachable!("an HTTP/2 plan always has structured requests") };
    structured
}

impl Session {
    /// Returns whether this client may start further streams.
    #[inline]
    fn is_open(&self) -> bool {
        self.last_stream.is_none() && self.next_id <= STREAM_LAST
    }

    #[inline]
    fn flow(&mut self, sink: &mut impl Sink) -> Flow {
        if self.is_open() {
            return Flow::Open;
        }
        self.return_waiting(sink);
        if self.streams.open() == 0 { Flow::Close } else { Flow::Drain }
    }

    /// Reports the waiting requests as `Unprocessed`, because they were never sent.
    fn return_waiting(&mut self, sink: &mut impl Sink) {
        for (slot, _) in self.waiting.drain(..) {
            sink.complete(slot, Outcome::Unprocessed);
        }
    }

    /// Resets the stream in this slot and frees the slot.
    fn abandon_stream(&mut self, slot: Slot, code: u32) {
        if let Some(stream) = self.streams.get(slot) {
            self.output.reset_stream(stream.id, code);
            self.streams.abandon(slot);
            self.sending.retain(|sending| *sending != slot);
        }
    }
}

impl Protocol for Http2 {
    type Session = Session;

    fn open(&mut self) -> Session {
        let mut output = Output::default();
        settings::write_first(output.end());
        Session {
            output,
            carry: Vec::new(),
            block: None,
            decoder: Decoder::new(),
            encoder: Encoder::new(&self.fields),
            known: Vec::new(),
            server: Settings::at_first(),
            acknowledged: false,
            receive_window: ReceiveWindow::new(settings::CONNECTION_WINDOW_BYTES),
            send_window: SendWindow::new(WINDOW_DEFAULT),
            next_id: 1,
            streams: Streams::default(),
            waiting: VecDeque::new(),
            sending: Vec::new(),
            sampled: None,
            last_stream: None,
        }
    }

    fn ready(&self, _session: &Session) -> bool {
        true
    }

    #[inline]
    fn request(&mut self, session: &mut Session, slot: Slot) -> u16 {
        let kind = self.requests.next_kind();
        session.waiting.push_back((slot, kind));
        self.awaited(kind).part
    }

    fn abandon(&mut self, session: &mut Session, slot: Slot) -> bool {
        if session.streams.get(slot).is_some() {
            session.abandon_stream(slot, frame::CANCEL);
        } else {
            session.waiting.retain(|(waiting, _)| *waiting != slot);
        }
        true
    }

    #[inline]
    fn prepare_output(&mut self, session: &mut Session) {
        self.begin_waiting(session);
        self.write_bodies(session);
    }

    #[inline]
    fn output<'a>(&'a self, session: &'a Session) -> &'a [u8] {
        session.output.unsent()
    }

    #[inline]
    fn sent(&mut self, session: &mut Session, count: usize) {
        session.output.sent(count);
    }

    fn stable_output(&self) -> bool {
        false
    }

    #[inline]
    fn receive(&mut self, session: &mut Session, bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault> {
        match self.take_frames(session, bytes, sink) {
            Ok(()) => Ok(session.flow(sink)),
            Err(fault) => {
                session.return_waiting(sink);
                Err(fault)
            }
        }
    }

    fn end_of_stream(&mut self, session: &mut Session, sink: &mut impl Sink) -> Fault {
        session.return_waiting(sink);
        Fault::closed_early("the connection was closed before the response was complete")
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

    fn sample_next(&mut self) {
        self.sampler.arm();
    }

    fn take_samples(&mut self) -> Vec<Sample> {
        self.sampler.take()
    }
}

//! Processes the frames that the server sends (RFC 9113, sections 5 and 6).

use super::frame::{self, Head};
use super::head::FieldCheck;
use super::hpack::LIST_BYTES_MAX;
use super::known::KnownBlock;
use super::streams::StreamError;
use super::{Fault, Http2, Outcome, Session, Sink, Slot};
use crate::figures::errors::ErrorKind;
use crate::protocol::events;

/// The part of a header block that has arrived so far.
pub struct HeaderBlock {
    stream: u32,
    end_stream: bool,
    bytes: Vec<u8>,
}

const TOO_MANY_REPLIES: Fault = Fault::invalid("the server requests replies but does not read them");

impl Http2 {
    /// Processes received bytes, which may be split at any position.
    #[inline]
    pub(super) fn take_frames(&mut self, session: &mut Session, mut bytes: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
        if !session.carry.is_empty() && !self.take_carried(session, &mut bytes, sink)? {
            return Ok(());
        }
        while let Some((head, rest)) = bytes.split_first_chunk() {
            let head = checked(Head::read(head))?;
            let Some((payload, rest)) = rest.split_at_checked(head.length) else { break };
            self.take_frame(session, head, payload, sink)?;
            bytes = rest;
        }
        session.carry.extend_from_slice(bytes);
        Ok(())
    }

    /// Completes the frame whose first bytes arrived earlier. Returns false if the frame is still incomplete.
    fn take_carried(&mut self, session: &mut Session, bytes: &mut &[u8], sink: &mut impl Sink) -> Result<bool, Fault> {
        if !fill(&mut session.carry, frame::HEAD_BYTES, bytes) {
            return Ok(false);
        }
        let Some((head, _)) = session.carry.split_first_chunk() else { return Ok(false) };
        let head = checked(Head::read(head))?;
        if !fill(&mut session.carry, frame::HEAD_BYTES + head.length, bytes) {
            return Ok(false);
        }
        let mut whole = std::mem::take(&mut session.carry);
        self.take_frame(session, head, &whole[frame::HEAD_BYTES..], sink)?;
        whole.clear();
        session.carry = whole;
        Ok(true)
    }

    #[inline]
    fn take_frame(&mut self, session: &mut Session, head: Head, payload: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
        if !session.server.known && (head.kind != frame::SETTINGS || head.has(frame::ACK)) {
            return Err(Fault::invalid("the first frame is not SETTINGS"));
        }
        if session.block.as_ref().is_some_and(|block| head.kind != frame::CONTINUATION || head.stream != block.stream) {
            return Err(Fault::invalid("a header block is interrupted by another frame"));
        }
        match head.kind {
            frame::DATA => self.take_data(session, head, payload, sink),
            frame::HEADERS => self.take_headers(session, head, payload, sink),
            frame::CONTINUATION => self.take_continuation(session, head, payload, sink),
            frame::PRIORITY => self.take_priority(session, head, sink),
            frame::RST_STREAM => self.take_reset(session, head, payload, sink),
            frame::SETTINGS => self.take_settings(session, head, payload),
            frame::PUSH_PROMISE => Err(Fault::invalid("the server sent PUSH_PROMISE although push is disabled")),
            frame::PING => take_ping(session, head, payload),
            frame::GOAWAY => take_go_away(session, head, payload, sink),
            frame::WINDOW_UPDATE => self.take_window_update(session, head, payload, sink),
            // Unknown frames must be ignored (RFC 9113, 5.5).
            _ => Ok(()),
        }
    }

    #[inline]
    fn take_data(&mut self, session: &mut Session, head: Head, payload: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
        if !session.receive_window.take(payload.len()) {
            return Err(Fault::invalid("the server exceeded the window of the connection"));
        }
        if let Some(by) = session.receive_window.update() {
            reply(session, frame::WINDOW_UPDATE, 0, &by.to_be_bytes())?;
        }
        let content = frame::content(head, payload)?;
        if let Some((id, kept)) = &mut session.sampled
            && *id == head.stream
        {
            kept.take_in(content);
        }
        let Some(slot) = session.find(head.stream)? else { return Ok(()) };
        let Some(stream) = session.streams.get(slot) else { return Ok(()) };
        let end = head.has(frame::END_STREAM);
        let taken = stream.take_body(content, payload.len(), end, self.awaited(stream.kind));
        if taken.is_ok()
            && let Some(events) = stream.events()
        {
            events.parse(content, |block| sink.event(slot, block));
        }
        if let Ok(None) = taken
            && let Some(by) = stream.window_update()
        {
            reply(session, frame::WINDOW_UPDATE, head.stream, &by.to_be_bytes())?;
        }
        self.settle(session, slot, taken, sink);
        Ok(())
    }

    #[inline]
    fn take_headers(&mut self, session: &mut Session, head: Head, payload: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
        let fragment = frame::fragment(head, payload)?;
        let end_stream = head.has(frame::END_STREAM);
        if head.has(frame::END_HEADERS) {
            return self.take_block(session, head.stream, end_stream, fragment, sink);
        }
        if let Some(slot) = session.find(head.stream)? {
            sink.begin(slot);
        }
        session.block = Some(HeaderBlock { stream: head.stream, end_stream, bytes: fragment.to_vec() });
        Ok(())
    }

    fn take_continuation(&mut self, session: &mut Session, head: Head, payload: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
        let Some(mut block) = session.block.take() else {
            return Err(Fault::invalid("a CONTINUATION frame without a header block"));
        };
        block.bytes.extend_from_slice(payload);
        if block.bytes.len() > LIST_BYTES_MAX {
            return Err(Fault::invalid("a header block is larger than 64 KiB"));
        }
        if !head.has(frame::END_HEADERS) {
            session.block = Some(block);
            return Ok(());
        }
        self.take_block(session, block.stream, block.end_stream, &block.bytes, sink)
    }

    /// Processes a complete header block.
    #[inline]
    fn take_block(&mut self, session: &mut Session, id: u32, end: bool, block: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
        let found = session.find(id)?;
        if let Some(slot) = found.filter(|_| !end) {
            sink.begin(slot);
        }
        let version = session.decoder.version();
        if let Some(slot) = found
            && let Some(stream) = session.streams.get(slot)
            && stream.is_awaited()
            && let part = self.awaited(stream.kind).part
            && !self.sampler.wants(part)
            && let Some(known) = session.known.get(usize::from(part))
            && let Some(head) = known.recognize(block, version)
        {
            self.counts.fast += 1;
            let taken = stream.take_head(head, end, self.awaited(stream.kind));
            self.settle(session, slot, taken, sink);
            return Ok(());
        }
        let is_sampled =
            found.and_then(|slot| session.streams.get(slot)).is_some_and(|stream| self.sampler.wants(self.awaited(stream.kind).part));
        let (mut fields, mut lines) = (FieldCheck::default(), Vec::new());
        session.decoder.decode(block, |name, value| {
            fields.take(name, value);
            if is_sampled && !name.starts_with(b":") {
                lines.extend([name, b": ", value, b"\r\n"].concat());
            }
        })?;
        if let Some(slot) = found {
            let taken = self.take_fields(session, slot, &fields, end, (block, version));
            if is_sampled && taken.is_ok() {
                self.begin_sample(session, slot, &fields, &lines);
            }
            self.settle(session, slot, taken, sink);
        }
        Ok(())
    }

    /// Starts keeping a response, unless it is an interim response. Its head is written as in HTTP/1.1.
    #[cold]
    fn begin_sample(&mut self, session: &mut Session, slot: Slot, fields: &FieldCheck, lines: &[u8]) {
        let Some((stream, head)) = session.streams.get(slot).zip(fields.head()) else { return };
        if head.status >= 200 {
            let text = [format!("HTTP/2 {}\r\n", head.status).as_bytes(), lines, b"\r\n"].concat();
            let part = self.awaited(stream.kind).part;
            session.sampled = self.sampler.begin(stream.kind, part, head.status, &text).map(|kept| (stream.id, kept));
        }
    }

    /// Processes the fields of a decoded block. `version` is the version of the decoder's table before decoding.
    fn take_fields(
        &mut self,
        session: &mut Session,
        slot: Slot,
        fields: &FieldCheck,
        end: bool,
        (block, version): (&[u8], u64),
    ) -> Result<Option<Outcome>, StreamError> {
        let Some(stream) = session.streams.get(slot) else { return Ok(None) };
        let awaited = self.awaited(stream.kind);
        if !stream.is_awaited() {
            let are_trailers = end && fields.are_trailers();
            return if are_trailers { stream.finish(awaited).map(Some) } else { Err(frame::PROTOCOL_ERROR) };
        }
        let head = fields.head().ok_or(frame::PROTOCOL_ERROR)?;
        let is_final = head.status >= 200;
        let is_event_stream = awaited.expectation.is_event_stream();
        if is_final
            && is_event_stream
            && let Err(fault) = events::check(awaited.expectation.status_is_correct(head.status), head.is_event_stream)
        {
            if !end {
                session.abandon_stream(slot, frame::CANCEL);
            }
            return Ok(Some(Outcome::Failed(fault.kind)));
        }
        let taken = stream.take_head(head, end, awaited)?;
        if is_final {
            let part = usize::from(awaited.part);
            self.counts.full += 1;
            if session.known.len() <= part {
                session.known.resize_with(part + 1, KnownBlock::default);
            }
            // The shortcut doesn't check the media type.
            if !is_event_stream {
                session.known[part].learn(block, head, version, session.decoder.version());
            }
        }
        Ok(taken)
    }

    /// Ends the stream in this slot if its response is complete or invalid.
    #[inline]
    fn settle(&mut self, session: &mut Session, slot: Slot, taken: Result<Option<Outcome>, StreamError>, sink: &mut impl Sink) {
        match taken {
            Ok(None) => {}
            Ok(Some(outcome)) => {
                if session.sampled.is_some() {
                    self.keep_sample(session, slot);
                }
                self.close(session, slot);
                sink.complete(slot, outcome);
            }
            Err(code) => {
                session.abandon_stream(slot, code);
                sink.complete(slot, Outcome::Failed(ErrorKind::InvalidResponse));
            }
        }
    }

    /// Keeps the response on this stream if it is the sampled one.
    #[cold]
    fn keep_sample(&mut self, session: &mut Session, slot: Slot) {
        let id = session.streams.get(slot).map(|stream| stream.id);
        if let Some((_, kept)) = session.sampled.take_if(|(sampled, _)| Some(*sampled) == id) {
            self.sampler.keep(*kept);
        }
    }

    /// Closes a stream whose response is complete. If part of the request is still unsent, this part is never sent.
    #[inline]
    fn close(&self, session: &mut Session, slot: Slot) {
        if !session.sending.is_empty() {
            self.stop_sending(session, slot);
        }
        session.streams.remove(slot);
    }

    #[cold]
    fn stop_sending(&self, session: &mut Session, slot: Slot) {
        if let Some(stream) = session.streams.get(slot)
            && stream.body_sent < self.structured(stream.kind).body.len()
        {
            session.output.reset_stream(stream.id, frame::CANCEL);
            session.sending.retain(|sending| *sending != slot);
        }
    }

    /// Validates a PRIORITY frame. Its content is ignored (RFC 9113, 5.3.2).
    fn take_priority(&mut self, session: &mut Session, head: Head, sink: &mut impl Sink) -> Result<(), Fault> {
        if head.stream == 0 {
            return Err(Fault::invalid("a PRIORITY frame without a stream"));
        }
        if head.length != 5
            && let Some(slot) = session.streams.find(head.stream)
        {
            self.settle(session, slot, Err(frame::FRAME_SIZE_ERROR), sink);
        }
        Ok(())
    }

    fn take_reset(&self, session: &mut Session, head: Head, payload: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
        if payload.len() != 4 {
            return Err(Fault::invalid("a RST_STREAM frame has the wrong length"));
        }
        session.check_begun(head.stream)?;
        let Some(slot) = session.streams.find(head.stream) else { return Ok(()) };
        let Some(stream) = session.streams.get(slot) else { return Ok(()) };
        let outcome = match frame::number(payload) {
            frame::REFUSED_STREAM if stream.is_awaited() => Outcome::Unprocessed,
            frame::NO_ERROR => Outcome::Failed(ErrorKind::ClosedEarly),
            _ => Outcome::Failed(ErrorKind::Reset),
        };
        session.give_up(slot, outcome, sink);
        Ok(())
    }

    fn take_settings(&self, session: &mut Session, head: Head, payload: &[u8]) -> Result<(), Fault> {
        if head.stream != 0 {
            return Err(Fault::invalid("a SETTINGS frame on a stream"));
        }
        if head.has(frame::ACK) {
            let is_first = !std::mem::replace(&mut session.acknowledged, true);
            return if is_first && payload.is_empty() { Ok(()) } else { Err(Fault::invalid("an unexpected acknowledgment of settings")) };
        }
        let before = i64::from(session.server.stream_window);
        session.server.take(payload)?;
        session.encoder.allow(session.server.header_table_bytes);
        let change = i64::from(session.server.stream_window) - before;
        if change != 0 && !session.streams.iter_mut().all(|(_, stream)| stream.send_window.change(change)) {
            return Err(Fault::invalid("the server's settings make a window too large"));
        }
        if session.output.reply(frame::SETTINGS, frame::ACK, 0, &[]) { Ok(()) } else { Err(TOO_MANY_REPLIES) }
    }

    fn take_window_update(&mut self, session: &mut Session, head: Head, payload: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
        if payload.len() != 4 {
            return Err(Fault::invalid("a WINDOW_UPDATE frame has the wrong length"));
        }
        let by = i64::from(frame::number(payload) & frame::STREAM_MAX);
        if head.stream == 0 {
            let is_right = by > 0 && session.send_window.change(by);
            return if is_right { Ok(()) } else { Err(Fault::invalid("the connection's window is changed by zero or grows too large")) };
        }
        session.check_begun(head.stream)?;
        // An update may arrive after the stream has ended, so updates for closed streams are ignored.
        let Some(slot) = session.streams.find(head.stream) else { return Ok(()) };
        let Some(stream) = session.streams.get(slot) else { return Ok(()) };
        let taken = match by {
            0 => Err(frame::PROTOCOL_ERROR),
            _ if stream.send_window.change(by) => Ok(None),
            _ => Err(frame::FLOW_CONTROL_ERROR),
        };
        self.settle(session, slot, taken, sink);
        Ok(())
    }
}

impl Session {
    /// Returns the slot of the stream that a frame belongs to, or `None` if the stream was abandoned. Fails if the stream is neither open
    /// nor abandoned.
    #[inline]
    fn find(&self, id: u32) -> Result<Option<Slot>, Fault> {
        match self.streams.find(id) {
            Some(slot) => Ok(Some(slot)),
            None => self.check_late(id).map(|()| None),
        }
    }

    #[cold]
    fn check_late(&self, id: u32) -> Result<(), Fault> {
        self.check_begun(id)?;
        if self.streams.is_abandoned(id) { Ok(()) } else { Err(Fault::invalid("a frame on a closed stream")) }
    }

    /// Checks that this client has started the stream.
    fn check_begun(&self, id: u32) -> Result<(), Fault> {
        let is_begun = id % 2 == 1 && id < self.next_id;
        if is_begun { Ok(()) } else { Err(Fault::invalid("a frame on an idle stream")) }
    }

    /// Ends a stream that the server has reset or won't process.
    fn give_up(&mut self, slot: Slot, outcome: Outcome, sink: &mut impl Sink) {
        self.streams.remove(slot);
        self.sending.retain(|sending| *sending != slot);
        sink.complete(slot, outcome);
    }
}

/// Rejects a frame that is too large as soon as its header has arrived. Such a header may also mean that the server doesn't use HTTP/2.
#[inline]
fn checked(head: Head) -> Result<Head, Fault> {
    if head.length > frame::PAYLOAD_BYTES_MAX {
        Err(Fault::invalid("a frame is larger than 16 KiB, or the data is not HTTP/2"))
    } else {
        Ok(head)
    }
}

/// Moves bytes to the end of `room` until it contains `length` bytes. Returns whether there were enough bytes.
fn fill(room: &mut Vec<u8>, length: usize, bytes: &mut &[u8]) -> bool {
    let take = length.saturating_sub(room.len()).min(bytes.len());
    let (taken, rest) = bytes.split_at(take);
    room.extend_from_slice(taken);
    *bytes = rest;
    room.len() >= length
}

fn reply(session: &mut Session, kind: u8, stream: u32, payload: &[u8]) -> Result<(), Fault> {
    if session.output.reply(kind, 0, stream, payload) { Ok(()) } else { Err(TOO_MANY_REPLIES) }
}

fn take_ping(session: &mut Session, head: Head, payload: &[u8]) -> Result<(), Fault> {
    if head.stream != 0 || payload.len() != 8 {
        return Err(Fault::invalid("a PING frame is on a stream or has the wrong length"));
    }
    let is_taken = head.has(frame::ACK) || session.output.reply(frame::PING, frame::ACK, 0, payload);
    if is_taken { Ok(()) } else { Err(TOO_MANY_REPLIES) }
}

/// Handles GOAWAY. The frame contains the ID of the last stream that the server will process. If the frame also contains an error code, the
/// server may have processed later streams nevertheless.
fn take_go_away(session: &mut Session, head: Head, payload: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
    let Some((last, rest)) = payload.split_first_chunk().filter(|(_, rest)| rest.len() >= 4 && head.stream == 0) else {
        return Err(Fault::invalid("a GOAWAY frame is on a stream or has the wrong length"));
    };
    let last = u32::from_be_bytes(*last) & frame::STREAM_MAX;
    if session.last_stream.is_some_and(|known| last > known) {
        return Err(Fault::invalid("a GOAWAY frame raises the last stream ID"));
    }
    session.last_stream = Some(last);
    let outcome = if frame::number(rest) == frame::NO_ERROR { Outcome::Unprocessed } else { Outcome::Failed(ErrorKind::Reset) };
    let above: Vec<Slot> = session.streams.iter_mut().filter(|(_, stream)| stream.id > last).map(|(slot, _)| slot).collect();
    for slot in above {
        session.give_up(slot, outcome, sink);
    }
    Ok(())
}

//! The open streams and the recently abandoned streams of a connection.

use std::collections::VecDeque;

use super::flow::{ReceiveWindow, SendWindow};
use super::head::Head;
use super::settings::STREAM_WINDOW_BYTES;
use super::{Outcome, Slot, frame};
use crate::protocol::body::{BodyCheck, outcome};
use crate::protocol::events::EventParser;
use crate::request::kind::{Awaited, MethodKind};

/// Maximum number of abandoned streams to remember, so that late frames on them can be recognized.
const ABANDONED_MAX: usize = 1024;
const INTERIM_RESPONSES_MAX: u8 = 16;

pub struct Stream {
    /// The stream ID; 0 if the slot is free.
    pub id: u32,
    /// Index of the request.
    pub kind: u32,
    interim: u8,
    pub response: Response,
    receive_window: ReceiveWindow,
    pub send_window: SendWindow,
    /// Number of bytes of the request body that have been added to the output.
    pub body_sent: usize,
}

/// The progress of the response.
pub enum Response {
    Awaited,
    Body {
        check: BodyCheck,
        status_is_correct: bool,
        /// Number of bytes of the body that are still missing, if its length is known.
        left: Option<u64>,
        /// The parser of the event stream, if the response is one.
        events: Option<Box<EventParser>>,
    },
}

/// The error code with which a stream is reset after an invalid frame.
pub type StreamError = u32;

impl Stream {
    const FREE: Self = Self::new(0, 0, 0);

    pub const fn new(id: u32, kind: u32, send_window: u32) -> Self {
        Self {
            id,
            kind,
            interim: 0,
            response: Response::Awaited,
            receive_window: ReceiveWindow::new(STREAM_WINDOW_BYTES),
            send_window: SendWindow::new(send_window),
            body_sent: 0,
        }
    }

    #[inline]
    pub fn is_awaited(&self) -> bool {
        matches!(self.response, Response::Awaited)
    }

    /// Processes a response head. Returns the outcome if the response ends with the head.
    #[inline]
    pub fn take_head(&mut self, head: Head, end: bool, awaited: &Awaited) -> Result<Option<Outcome>, StreamError> {
        if head.status < 200 {
            self.interim += 1;
            let is_allowed = !end && head.status != 101 && self.interim <= INTERIM_RESPONSES_MAX;
            return if is_allowed { Ok(None) } else { Err(frame::PROTOCOL_ERROR) };
        }
        let has_no_body = awaited.method_kind == MethodKind::Head || matches!(head.status, 204 | 304);
        self.response = Response::Body {
            check: BodyCheck::new(&awaited.expectation.body),
            status_is_correct: awaited.expectation.status_is_correct(head.status),
            left: if has_no_body { Some(0) } else { head.length },
            events: awaited.expectation.is_event_stream().then(|| Box::new(EventParser::new())),
        };
        if end { self.finish(awaited).map(Some) } else { Ok(None) }
    }

    /// Processes a part of the body. `framed_bytes` is the length of the frame's payload, including padding.
    #[inline]
    pub fn take_body(&mut self, content: &[u8], framed_bytes: usize, end: bool, awaited: &Awaited) -> Result<Option<Outcome>, StreamError> {
        if !self.receive_window.take(framed_bytes) {
            return Err(frame::FLOW_CONTROL_ERROR);
        }
        let Response::Body { check, left, .. } = &mut self.response else { return Err(frame::PROTOCOL_ERROR) };
        if let Some(left) = left {
            *left = left.checked_sub(content.len() as u64).ok_or(frame::PROTOCOL_ERROR)?;
        }
        check.update(&awaited.expectation.body, content);
        if end { self.finish(awaited).map(Some) } else { Ok(None) }
    }

    /// Returns the parser of the response's events, if it is an event stream.
    #[inline]
    pub fn events(&mut self) -> Option<&mut EventParser> {
        match &mut self.response {
            Response::Body { events, .. } => events.as_deref_mut(),
            Response::Awaited => None,
        }
    }

    /// Returns the outcome of a response after its last frame, or an error if the response is incomplete.
    #[inline]
    pub fn finish(&mut self, awaited: &Awaited) -> Result<Outcome, StreamError> {
        match &mut self.response {
            Response::Body { check, status_is_correct, left: None | Some(0), .. } => {
                Ok(outcome(*status_is_correct, check.finish(&awaited.expectation.body)))
            }
            Response::Body { .. } | Response::Awaited => Err(frame::PROTOCOL_ERROR),
        }
    }

    #[inline]
    pub fn window_update(&mut self) -> Option<u32> {
        self.receive_window.update()
    }
}

#[derive(Default)]
pub struct Streams {
    /// All streams, indexed by slot.
    slots: Vec<Stream>,
    /// The slot that probably contains a stream, indexed by the low bits of half the stream ID.
    hints: Vec<Slot>,
    open: usize,
    abandoned: Abandoned,
}

impl Streams {
    #[inline]
    pub fn open(&self) -> usize {
        self.open
    }

    #[inline]
    pub fn insert(&mut self, slot: Slot, stream: Stream) {
        let at = usize::from(slot);
        if self.slots.len() <= at {
            self.grow(at + 1);
        }
        debug_assert!(self.slots[at].id == 0, "the slot is free");
        let hint = self.hint(stream.id);
        self.hints[hint] = slot;
        self.slots[at] = stream;
        self.open += 1;
    }

    #[inline]
    fn hint(&self, id: u32) -> usize {
        (id / 2) as usize & (self.hints.len() - 1)
    }

    /// Makes room for `slots` slots. The number of hints is at least twice the number of slots, so that recent streams rarely share a hint.
    #[cold]
    fn grow(&mut self, slots: usize) {
        self.slots.resize_with(slots, || Stream::FREE);
        let hints = (2 * slots).next_power_of_two();
        if hints > self.hints.len() {
            self.hints = vec![0; hints];
            for (slot, id) in self.slots.iter().map(|stream| stream.id).enumerate().filter(|(_, id)| *id != 0) {
                let hint = (id / 2) as usize & (hints - 1);
                self.hints[hint] = slot as Slot;
            }
        }
    }

    /// Returns the slot of the open stream with this ID, or `None` if there is none.
    #[inline]
    pub fn find(&self, id: u32) -> Option<Slot> {
        let slot = *self.hints.get((id / 2) as usize & self.hints.len().wrapping_sub(1))?;
        if self.slots[usize::from(slot)].id == id && id != 0 { Some(slot) } else { self.search(id) }
    }

    /// Searches all slots for the stream, because a newer stream may have overwritten its hint.
    #[cold]
    fn search(&self, id: u32) -> Option<Slot> {
        self.slots.iter().position(|stream| stream.id == id && id != 0).map(|slot| slot as Slot)
    }

    /// Returns the open stream in this slot, or `None` if the slot is free.
    #[inline]
    pub fn get(&mut self, slot: Slot) -> Option<&mut Stream> {
        self.slots.get_mut(usize::from(slot)).filter(|stream| stream.id != 0)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Slot, &mut Stream)> {
        self.slots.iter_mut().enumerate().filter(|(_, stream)| stream.id != 0).map(|(slot, stream)| (slot as Slot, stream))
    }

    /// Closes the stream in this slot.
    #[inline]
    pub fn remove(&mut self, slot: Slot) {
        if let Some(stream) = self.get(slot) {
            *stream = Stream::FREE;
            self.open -= 1;
        }
    }

    /// Closes a stream before it has ended. Frames that still arrive on this stream are not errors.
    pub fn abandon(&mut self, slot: Slot) {
        if let Some(id) = self.get(slot).map(|stream| stream.id) {
            self.abandoned.insert(id);
            self.remove(slot);
        }
    }

    pub fn is_abandoned(&self, id: u32) -> bool {
        self.abandoned.contains(id)
    }
}

/// The most recently abandoned streams. Older streams are no longer remembered, so all IDs up to `forgotten` count as abandoned.
#[derive(Default)]
struct Abandoned {
    ids: VecDeque<u32>,
    forgotten: u32,
}

impl Abandoned {
    fn insert(&mut self, id: u32) {
        if self.ids.len() == ABANDONED_MAX
            && let Some(oldest) = self.ids.pop_front()
        {
            self.forgotten = self.forgotten.max(oldest);
        }
        self.ids.push_back(id);
    }

    fn contains(&self, id: u32) -> bool {
        id <= self.forgotten || self.ids.contains(&id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_abandoned_stream_is_recognized() {
        let mut abandoned = Abandoned::default();
        (0..3000).for_each(|number| abandoned.insert(4 * number + 1));
        assert!((0..3000).all(|number| abandoned.contains(4 * number + 1)));
        assert!(!abandoned.contains(4 * 2999 - 1), "this stream was not abandoned");
        assert_eq!(abandoned.ids.len(), ABANDONED_MAX);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// The model is a map. Streams start in order of their IDs. They end in any order, or not at all.
        #[test]
        fn streams_are_found_by_id(events in prop::collection::vec((0..40u16, 0..4u8), 1..300)) {
            let (mut streams, mut model, mut next_id) = (Streams::default(), BTreeMap::new(), 1);
            for (slot, event) in events {
                let id = model.iter().find(|(_, at)| **at == slot).map(|(id, _)| *id);
                match (id, event) {
                    (None, _) => {
                        streams.insert(slot, Stream::new(next_id, 0, 0));
                        model.insert(next_id, slot);
                        next_id += 2;
                    }
                    (Some(id), 0) => {
                        streams.abandon(slot);
                        prop_assert!(streams.is_abandoned(id));
                        model.remove(&id);
                    }
                    (Some(id), 1 | 2) => {
                        streams.remove(slot);
                        prop_assert!(!streams.is_abandoned(id));
                        model.remove(&id);
                    }
                    _ => {}
                }
                prop_assert_eq!(streams.open(), model.len());
                for id in (0..next_id + 2).filter(|id| *id == 0 || id % 2 == 1) {
                    prop_assert_eq!(streams.find(id), model.get(&id).copied());
                }
                prop_assert_eq!(streams.iter_mut().map(|(slot, stream)| (stream.id, slot)).collect::<BTreeMap<_, _>>(), model.clone());
            }
        }
    }
}

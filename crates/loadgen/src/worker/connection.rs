//! One connection as the worker sees it: its state, its session, and when each request in flight was sent.

use crate::protocol::Slot;
use crate::recorder::Sent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for its turn to connect, not before this instant.
    Closed {
        not_before_ns: u64,
    },
    /// The engine is at it.
    Connecting {
        since_ns: u64,
    },
    /// Connected, but the protocol still shakes hands.
    Handshaking {
        since_ns: u64,
    },
    Open,
}

/// First pause before a failed connection is tried again; it doubles with each further failure in a row.
const BACKOFF_NS: u64 = 10_000_000;
const BACKOFF_DOUBLINGS_MAX: u32 = 7;

pub struct Connection<S> {
    pub session: S,
    pub flight: Flight,
    pub state: State,
    /// Requests that may still be started on this connection.
    pub left: u64,
    /// Grows each time that the connection is closed, so that what refers to an earlier one can be told.
    pub generation: u32,
    /// Whether it has been set up, or has failed to, at least once.
    pub attempted: bool,
    failures: u32,
}

impl<S> Connection<S> {
    pub fn new(session: S, depth: u16) -> Self {
        let state = State::Closed { not_before_ns: 0 };
        Self { session, flight: Flight::new(depth), state, left: 0, generation: 0, attempted: false, failures: 0 }
    }

    #[inline]
    pub fn has_room(&self) -> bool {
        self.left > 0 && self.flight.count < self.flight.depth() && self.state == State::Open
    }

    /// The connection did its work: the next failure is the first in a row again.
    #[inline]
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Notes that the connection is gone: after a failure it pauses, longer each time, before it is tried again.
    pub fn close(&mut self, now_ns: u64, failed: bool) {
        let pause_ns = if failed && self.failures > 0 { BACKOFF_NS << (self.failures - 1).min(BACKOFF_DOUBLINGS_MAX) } else { 0 };
        self.failures += u32::from(failed);
        self.generation = self.generation.wrapping_add(1);
        self.state = State::Closed { not_before_ns: now_ns + pause_ns };
    }
}

/// The requests in flight on one connection.
pub struct Flight {
    pub count: u16,
    next: Slot,
    /// By slot; `actual_ns` is 0 where the slot is free.
    slots: Box<[Sent]>,
}

impl Flight {
    fn new(depth: u16) -> Self {
        Self { count: 0, next: 0, slots: vec![Sent::default(); usize::from(depth)].into_boxed_slice() }
    }

    #[inline]
    pub fn depth(&self) -> u16 {
        self.slots.len() as u16
    }

    /// Takes a free slot. There must be one.
    #[inline]
    pub fn take(&mut self, sent: Sent) -> Slot {
        debug_assert!(self.count < self.depth() && sent.actual_ns != 0);
        // Responses in order free the slots in order, so the first look finds a free one; streams may need a few more.
        while self.slots[usize::from(self.next)].actual_ns != 0 {
            self.next = self.after(self.next);
        }
        let slot = self.next;
        self.next = self.after(slot);
        self.slots[usize::from(slot)] = sent;
        self.count += 1;
        slot
    }

    #[inline]
    pub fn free(&mut self, slot: Slot) -> Sent {
        debug_assert!(self.count > 0);
        self.count -= 1;
        std::mem::take(&mut self.slots[usize::from(slot)])
    }

    /// When the oldest request in flight was sent.
    pub fn oldest_ns(&self) -> Option<u64> {
        self.slots.iter().map(|sent| sent.actual_ns).filter(|ns| *ns != 0).min()
    }

    /// Empties all slots and hands over what was in flight.
    pub fn drain(&mut self, mut each: impl FnMut(Sent)) {
        for slot in &mut self.slots {
            let sent = std::mem::take(slot);
            if sent.actual_ns != 0 {
                each(sent);
            }
        }
        (self.count, self.next) = (0, 0);
    }

    #[inline]
    fn after(&self, slot: Slot) -> Slot {
        if slot + 1 == self.depth() { 0 } else { slot + 1 }
    }
}

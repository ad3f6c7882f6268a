//! One connection as the worker sees it: its state, its session, and when each request in flight was sent.

use crate::figures::recorder::Sent;
use crate::protocol::Slot;

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
    /// Whether it has completed a request since it was set up.
    pub served: bool,
    /// Whether it has since the server last refused some.
    served_since_refusal: bool,
    /// The server has refused requests, or announced the end, since it last completed one: nothing more is sent until it does.
    pub refused: bool,
    /// Places for requests that are held back because of that.
    pub held_back: u64,
    /// When bytes last came.
    pub last_bytes_ns: u64,
    failures: u32,
}

impl<S> Connection<S> {
    pub fn new(session: S, depth: u16) -> Self {
        let state = State::Closed { not_before_ns: 0 };
        Self {
            session,
            flight: Flight::new(depth),
            state,
            left: 0,
            generation: 0,
            attempted: false,
            last_bytes_ns: 0,
            refused: false,
            held_back: 0,
            served: false,
            served_since_refusal: false,
            failures: 0,
        }
    }

    #[inline]
    pub fn has_room(&self) -> bool {
        self.left > 0 && self.flight.count < self.flight.depth() && self.state == State::Open
    }

    /// The connection did its work: the next failure is the first in a row again.
    #[inline]
    pub fn succeeded(&mut self) {
        (self.served, self.served_since_refusal, self.refused, self.failures) = (true, true, false, 0);
    }

    /// The server did not process requests, or announced the end. That is a failure unless it has completed one before.
    pub fn refuse(&mut self) {
        self.refused = !std::mem::take(&mut self.served_since_refusal);
    }

    /// Notes that the connection is gone: after a failure it pauses, longer each time, before it is tried again.
    pub fn close(&mut self, now_ns: u64, failed: bool) {
        let failed = failed || self.refused;
        let pause_ns = if failed && self.failures > 0 { BACKOFF_NS << (self.failures - 1).min(BACKOFF_DOUBLINGS_MAX) } else { 0 };
        self.failures += u32::from(failed);
        self.generation = self.generation.wrapping_add(1);
        (self.served, self.served_since_refusal, self.refused, self.held_back) = (false, false, false, 0);
        self.state = State::Closed { not_before_ns: now_ns + pause_ns };
    }
}

/// The requests in flight on one connection.
pub struct Flight {
    pub count: u16,
    next: Slot,
    /// By slot; `actual_ns` is 0 where the slot is free.
    slots: Box<[Sent]>,
    /// No request in flight was sent before; so that what is not late is found so at a glance.
    oldest_at_least_ns: u64,
}

impl Flight {
    fn new(depth: u16) -> Self {
        Self { count: 0, next: 0, slots: vec![Sent::default(); usize::from(depth)].into_boxed_slice(), oldest_at_least_ns: 0 }
    }

    #[inline]
    pub fn depth(&self) -> u16 {
        self.slots.len() as u16
    }

    /// A free slot. There must be one.
    #[inline]
    pub fn free_slot(&mut self) -> Slot {
        debug_assert!(self.count < self.depth());
        // Responses in order free the slots in order, so the first look finds a free one; streams may take a few more.
        while self.slots[usize::from(self.next)].actual_ns != 0 {
            self.next = self.after(self.next);
        }
        self.next
    }

    /// Takes the free slot.
    #[inline]
    pub fn take(&mut self, slot: Slot, sent: Sent) {
        debug_assert!(slot == self.next && sent.actual_ns != 0);
        self.next = self.after(slot);
        self.slots[usize::from(slot)] = sent;
        if self.count == 0 {
            self.oldest_at_least_ns = sent.actual_ns;
        }
        self.count += 1;
    }

    #[inline]
    pub fn free(&mut self, slot: Slot) -> Sent {
        debug_assert!(self.count > 0);
        self.count -= 1;
        std::mem::take(&mut self.slots[usize::from(slot)])
    }

    /// Whether a request in flight was sent before this instant. Looks at all of them only where one may have been.
    pub fn has_older_than(&mut self, ns: u64) -> bool {
        if self.count == 0 || self.oldest_at_least_ns >= ns {
            return false;
        }
        self.oldest_at_least_ns = self.requests().map(|sent| sent.actual_ns).min().unwrap_or(u64::MAX);
        self.oldest_at_least_ns < ns
    }

    /// The requests in flight.
    pub fn requests(&self) -> impl Iterator<Item = Sent> {
        self.slots.iter().copied().filter(|sent| sent.actual_ns != 0)
    }

    /// Whether a request is in flight in this slot that was sent before this instant.
    pub fn is_older_than(&self, slot: Slot, ns: u64) -> bool {
        let sent_ns = self.slots[usize::from(slot)].actual_ns;
        sent_ns != 0 && sent_ns < ns
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_request_is_found_however_requests_come_and_go() {
        let mut flight = Flight::new(4);
        let sent = |ns| Sent { intended_ns: ns, actual_ns: ns, kind: 0 };
        let take = |flight: &mut Flight, sent: Sent| {
            let slot = flight.free_slot();
            flight.take(slot, sent);
            slot
        };
        assert!(!flight.has_older_than(u64::MAX), "nothing is in flight");
        let slots: Vec<_> = [10, 20, 30].map(|ns| take(&mut flight, sent(ns))).into();
        assert!(flight.has_older_than(11) && !flight.has_older_than(10));
        flight.free(slots[0]);
        assert!(flight.has_older_than(21) && !flight.has_older_than(20));
        take(&mut flight, sent(40));
        flight.free(slots[1]);
        flight.free(slots[2]);
        assert!(flight.has_older_than(41) && !flight.has_older_than(40));
        flight.drain(drop);
        take(&mut flight, sent(50));
        assert!(flight.has_older_than(51) && !flight.has_older_than(50));
    }
}

//! The worker's data about a connection: its state, its protocol session and its requests in flight.

use crate::figures::events::EventStream;
use crate::figures::recorder::Sent;
use crate::protocol::{Protocol, Slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not connected. The next attempt must not begin before this time.
    Closed {
        not_before_ns: u64,
    },
    /// The engine is connecting.
    Connecting {
        since_ns: u64,
    },
    /// Connected, but the protocol's handshake is unfinished.
    Handshaking {
        since_ns: u64,
    },
    Open,
}

/// Pause after the second consecutive failure. The pause doubles with each further failure. The retry after the first failure is immediate.
const BACKOFF_NS: u64 = 10_000_000;
const BACKOFF_DOUBLINGS_MAX: u32 = 7;

pub struct Connection<S> {
    pub session: S,
    pub flight: Flight,
    pub state: State,
    /// Number of further requests that may be sent on this connection.
    pub left: u64,
    /// Counter that is incremented whenever the connection is closed, so that references to an earlier connection can be detected.
    pub generation: u32,
    /// Whether at least one attempt to set up the connection has succeeded or failed.
    pub attempted: bool,
    /// Whether the server has completed a request since the connection was set up.
    pub served: bool,
    /// Whether the server has completed a request since it last refused one.
    served_since_refusal: bool,
    /// Whether the last refusal counts as a failure (see `refuse`). While this flag is set, no requests are sent. A completed request
    /// clears the flag.
    pub refused: bool,
    /// Number of request slots that have become free but aren't used while `refused` is set.
    pub held_back: u64,
    /// Time at which data last arrived.
    pub last_bytes_ns: u64,
    failures: u32,
}

impl<S> Connection<S> {
    pub fn new(session: S, depth: u16, event_streams: bool) -> Self {
        let state = State::Closed { not_before_ns: 0 };
        Self {
            session,
            flight: Flight::new(depth, event_streams),
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

    /// Adds a request to the connection's output, and returns its times and its part of the load. At least one slot must be free.
    #[inline]
    pub fn start_request<P: Protocol<Session = S>>(&mut self, protocol: &mut P, sent: Sent) -> Sent {
        self.left -= 1;
        let slot = self.flight.free_slot();
        let sent = Sent { part: protocol.request(&mut self.session, slot), ..sent };
        self.flight.take(slot, sent);
        sent
    }

    /// Records that the server completed a request. This resets the count of consecutive failures.
    #[inline]
    pub fn succeeded(&mut self) {
        (self.served, self.served_since_refusal, self.refused, self.failures) = (true, true, false, 0);
    }

    /// Records that the server refused requests or announced the end of the connection. This counts as a failure, unless the server has
    /// completed a request since its previous refusal or, without a previous refusal, since the connection was set up.
    pub fn refuse(&mut self) {
        self.refused = !std::mem::take(&mut self.served_since_refusal);
    }

    /// Marks the connection as closed. The pause before the next attempt grows with each consecutive failure.
    pub fn close(&mut self, now_ns: u64, failed: bool) {
        let failed = failed || self.refused;
        let pause_ns = if failed && self.failures > 0 { BACKOFF_NS << (self.failures - 1).min(BACKOFF_DOUBLINGS_MAX) } else { 0 };
        self.failures += u32::from(failed);
        self.generation = self.generation.wrapping_add(1);
        (self.served, self.served_since_refusal, self.refused, self.held_back) = (false, false, false, 0);
        self.state = State::Closed { not_before_ns: now_ns + pause_ns };
    }
}

/// A request in flight. With many requests in flight, these compete for the CPU's cache, so times that few requests have are kept apart.
#[derive(Clone, Copy, Default)]
struct InSlot {
    intended_ns: u64,
    actual_ns: u64,
    part: u16,
}

/// The requests in flight on one connection.
pub struct Flight {
    pub count: u16,
    next: Slot,
    /// Requests by slot; `actual_ns` is 0 in free slots.
    slots: Box<[InSlot]>,
    /// Time of the first byte of each response that has begun, by slot, and 0 for all others.
    first_bytes_ns: Box<[u64]>,
    /// Number of responses that have begun. It is usually 0, because most responses arrive in one read. The times then aren't looked up.
    begun: u16,
    /// A lower bound on the send times of all requests in flight. In the common case, this bound makes a scan of the slots unnecessary.
    oldest_at_least_ns: u64,
    /// Event streams by slot; empty if responses aren't event streams.
    streams: Box<[EventStream]>,
}

impl Flight {
    fn new(depth: u16, event_streams: bool) -> Self {
        let slots = vec![InSlot::default(); usize::from(depth)].into();
        let first_bytes_ns = vec![0; usize::from(depth)].into();
        let streams = if event_streams { vec![EventStream::default(); usize::from(depth)] } else { Vec::new() };
        Self { count: 0, next: 0, slots, first_bytes_ns, begun: 0, oldest_at_least_ns: 0, streams: streams.into() }
    }

    #[inline]
    pub fn depth(&self) -> u16 {
        self.slots.len() as u16
    }

    /// Returns a free slot. At least one slot must be free.
    #[inline]
    pub fn free_slot(&mut self) -> Slot {
        debug_assert!(self.count < self.depth());
        // Responses that arrive in order free their slots in order, so the next slot is usually free. With HTTP/2, the search may take a
        // few steps.
        while self.slots[usize::from(self.next)].actual_ns != 0 {
            self.next = self.after(self.next);
        }
        self.next
    }

    /// Stores a sent request in a free slot.
    #[inline]
    pub fn take(&mut self, slot: Slot, sent: Sent) {
        debug_assert!(slot == self.next && sent.actual_ns != 0);
        self.next = self.after(slot);
        let Sent { intended_ns, actual_ns, part, .. } = sent;
        self.slots[usize::from(slot)] = InSlot { intended_ns, actual_ns, part };
        if self.count == 0 {
            self.oldest_at_least_ns = sent.actual_ns;
        }
        self.count += 1;
    }

    /// Records that the first byte of a response has arrived, unless an earlier part of it already has.
    #[inline]
    pub fn begin_response(&mut self, slot: Slot, now_ns: u64) {
        debug_assert!(self.slots[usize::from(slot)].actual_ns != 0);
        let first_byte_ns = &mut self.first_bytes_ns[usize::from(slot)];
        if *first_byte_ns == 0 {
            *first_byte_ns = now_ns;
            self.begun += 1;
        }
    }

    #[inline]
    pub fn free(&mut self, slot: Slot) -> Sent {
        debug_assert!(self.count > 0);
        self.count -= 1;
        let sent = self.sent(usize::from(slot));
        self.slots[usize::from(slot)].actual_ns = 0;
        if sent.first_byte_ns != 0 {
            self.first_bytes_ns[usize::from(slot)] = 0;
            self.begun -= 1;
        }
        sent
    }

    /// Returns the request in a slot.
    #[inline]
    fn sent(&self, slot: usize) -> Sent {
        let InSlot { intended_ns, actual_ns, part } = self.slots[slot];
        let first_byte_ns = if self.begun == 0 { 0 } else { self.first_bytes_ns[slot] };
        Sent { intended_ns, actual_ns, first_byte_ns, part }
    }

    /// Returns the request in a slot and its event stream; `None` if responses aren't event streams.
    pub fn event_stream(&mut self, slot: Slot) -> Option<(Sent, &mut EventStream)> {
        let sent = self.sent(usize::from(slot));
        self.streams.get_mut(usize::from(slot)).map(|stream| (sent, stream))
    }

    /// Returns the last event stream of each slot, and the send time of the request in flight or 0.
    pub fn event_streams(&mut self) -> impl Iterator<Item = (u64, &mut EventStream)> {
        self.slots.iter().zip(&mut self.streams).map(|(sent, stream)| (sent.actual_ns, stream))
    }

    /// Returns whether any request that awaits its response was sent before `ns`. Scans the slots only if the lower bound is too low to
    /// answer this.
    pub fn has_older_than(&mut self, ns: u64) -> bool {
        if self.count == 0 || self.oldest_at_least_ns >= ns {
            return false;
        }
        self.oldest_at_least_ns = self.awaited().map(|sent| sent.actual_ns).min().unwrap_or(ns);
        self.oldest_at_least_ns < ns
    }

    /// Returns the requests in flight.
    pub fn requests(&self) -> impl Iterator<Item = Sent> {
        (0..self.slots.len()).map(|slot| self.sent(slot)).filter(|sent| sent.actual_ns != 0)
    }

    /// Returns the requests in flight that await their response or, if responses are event streams, their first event.
    pub fn awaited(&self) -> impl Iterator<Item = Sent> {
        (0..self.slots.len()).filter(|slot| self.is_awaited(*slot)).map(|slot| self.sent(slot))
    }

    fn is_awaited(&self, slot: usize) -> bool {
        let sent_ns = self.slots[slot].actual_ns;
        sent_ns != 0 && self.streams.get(slot).is_none_or(|stream| !stream.has_begun(sent_ns))
    }

    /// Returns whether this slot contains a request that was sent before `ns` and awaits its response or first event.
    pub fn is_older_than(&self, slot: Slot, ns: u64) -> bool {
        self.slots[usize::from(slot)].actual_ns < ns && self.is_awaited(usize::from(slot))
    }

    /// Frees all slots and passes each request in flight to `each`.
    pub fn drain(&mut self, mut each: impl FnMut(Sent)) {
        for slot in 0..self.depth() {
            if self.slots[usize::from(slot)].actual_ns != 0 {
                each(self.free(slot));
            }
        }
        self.next = 0;
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
    fn the_oldest_request_is_always_found() {
        let mut flight = Flight::new(4, false);
        let sent = |ns| Sent::at(ns, ns);
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

//! Sends requests: as soon as a connection has room (closed loop), or when a request is due and a connection is free (open loop).

use super::Worker;
use super::connection::State;
use super::pacing::{Load, Place};
use super::tickets::Tickets;
use crate::figures::recorder::Sent;
use crate::protocol::Protocol;

impl<P: Protocol> Worker<P> {
    /// Sends the first requests on an open connection, if the load is running.
    pub(super) fn put_to_work(&mut self, index: u32, now_ns: u64) {
        let connection = &self.connections[index as usize];
        if !self.running() || connection.state != State::Open {
            return;
        }
        if self.pacing.is_immediate() {
            self.fill(index, now_ns);
            self.to_flush.push(index);
            return;
        }
        let places = u64::from(connection.flight.depth()).min(connection.left);
        self.free(index, places, now_ns);
    }

    /// Makes places on a connection available. Requests that are already due are sent at once.
    pub(super) fn free(&mut self, index: u32, places: u64, now_ns: u64) {
        if !self.running() {
            return;
        }
        let place = Place { index, generation: self.connections[index as usize].generation };
        for _ in 0..places {
            self.pacing.put_free(place, now_ns);
        }
        self.dispatch(now_ns);
        // While no place was free, no wake-up time was set for the next request. Set it now.
        self.wake_ns = self.wake_ns.min(self.pacing.wake_ns());
    }

    #[inline]
    pub(super) fn fill(&mut self, index: u32, now_ns: u64) {
        let Self { protocol, connections, recorder, shared, .. } = self;
        let connection = &mut connections[index as usize];
        let sent = Sent::at(now_ns, now_ns);
        while connection.has_room() && shared.may_send() {
            recorder.request_sent(connection.start_request(protocol, sent), now_ns);
        }
    }

    /// Sends the requests that are due, as long as places are free.
    pub(super) fn dispatch(&mut self, now_ns: u64) {
        while let Some(intended_ns) = self.due(now_ns) {
            let Some((free_ns, place)) = self.pacing.take_free(now_ns) else { break };
            let connection = &mut self.connections[place.index as usize];
            if connection.generation != place.generation || !connection.has_room() {
                continue;
            }
            if connection.refused {
                connection.held_back += 1;
                continue;
            }
            if !self.shared.may_send() {
                continue;
            }
            let sent = connection.start_request(&mut self.protocol, Sent::at(intended_ns, now_ns));
            self.recorder.request_sent(sent, free_ns);
            self.to_flush.push(place.index);
            self.pacing.advance();
        }
    }

    /// Returns whether this thread has no more requests to send. This is never the case if the run ends after a duration.
    #[inline]
    pub(super) fn has_sent_all(&self) -> bool {
        match &self.pacing.load {
            Load::Closed { .. } => self.shared.tickets.as_ref().is_some_and(Tickets::are_gone),
            Load::Open(_) => self.running() && self.pacing.next_due_ns() == u64::MAX,
        }
    }

    /// Returns the intended send time of the next request that is due, or `None` if no request is due. Drops requests that have exceeded
    /// the deadline.
    fn due(&mut self, now_ns: u64) -> Option<u64> {
        let Load::Open(open) = &self.pacing.load else { return Some(now_ns) };
        let deadline_ns = open.deadline_ns;
        while self.pacing.next_due_ns() <= now_ns {
            let due_ns = self.pacing.next_due_ns();
            if deadline_ns.is_none_or(|deadline_ns| now_ns - due_ns <= deadline_ns) {
                return Some(due_ns);
            }
            self.recorder.request_not_sent(due_ns);
            self.pacing.advance();
        }
        None
    }
}

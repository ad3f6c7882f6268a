//! Determines when requests are due: after the previous response (closed loop) or on a schedule (open loop).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::time::arrivals::Schedule;

/// The rule that determines when requests are due.
#[derive(Clone, Debug)]
pub enum Load {
    /// A request is due when the previous response has arrived and the think time has passed.
    Closed { think_ns: u64 },
    /// Requests are due on a schedule, independent of the responses.
    Open(OpenLoop),
}

impl Load {
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Returns one thread's share of the load.
    pub fn of_thread(self, thread: u32, threads: u32, seed: u64) -> Self {
        match self {
            Self::Closed { .. } => self,
            Self::Open(OpenLoop { schedule, deadline_ns }) => {
                Self::Open(OpenLoop { schedule: schedule.of_thread(thread, threads, seed), deadline_ns })
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct OpenLoop {
    pub schedule: Schedule,
    /// Maximum delay of a request; `None` for no limit. Requests with a longer delay are dropped and counted as not sent.
    pub deadline_ns: Option<u64>,
}

/// Room for one request on a connection. A place is invalid if the connection's generation has changed.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub index: u32,
    pub generation: u32,
}

pub struct Pacing {
    pub load: Load,
    /// Free places. In an open loop, the place that has been free for the longest time comes first, so that all connections are used. In a
    /// closed loop, places are sorted by the end of their think time.
    waiting: VecDeque<(u64, Place)>,
    start_ns: u64,
    /// Time at which the next request of the schedule is due; `u64::MAX` at its end.
    next_due_ns: u64,
    /// Intended send times of requests that the server didn't process. These requests are sent again, before the rest of the schedule.
    returned: BinaryHeap<Reverse<u64>>,
}

impl Pacing {
    pub fn new(load: Load, places: usize) -> Self {
        let waiting = if matches!(load, Load::Closed { think_ns: 0 }) { VecDeque::new() } else { VecDeque::with_capacity(places) };
        Self { load, waiting, start_ns: 0, next_due_ns: u64::MAX, returned: BinaryHeap::new() }
    }

    /// Starts the schedule and discards all state from the previous start.
    pub fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.waiting.clear();
        self.returned.clear();
        if let Load::Open(open) = &mut self.load {
            open.schedule.restart();
        }
        self.advance();
    }

    /// Advances to the next request after one has been sent or dropped.
    pub fn advance(&mut self) {
        if self.returned.pop().is_some() {
            return;
        }
        if let Load::Open(open) = &mut self.load {
            self.next_due_ns = self.start_ns.saturating_add(open.schedule.next_ns());
        }
    }

    pub fn next_due_ns(&self) -> u64 {
        self.returned.peek().map_or(self.next_due_ns, |Reverse(intended_ns)| *intended_ns)
    }

    /// Takes back a request that the server didn't process. Does nothing in a closed loop, because a new request replaces the unprocessed
    /// one.
    pub fn put_back(&mut self, intended_ns: u64) {
        if let Load::Open(_) = self.load {
            self.returned.push(Reverse(intended_ns));
        }
    }

    /// Returns whether each place sends its next request as soon as it is free.
    #[inline]
    pub fn is_immediate(&self) -> bool {
        matches!(self.load, Load::Closed { think_ns: 0 })
    }

    pub fn put_free(&mut self, place: Place, now_ns: u64) {
        let until_ns = match &self.load {
            Load::Closed { think_ns } => now_ns + think_ns,
            Load::Open(_) => now_ns,
        };
        self.waiting.push_back((until_ns, place));
    }

    /// Takes a place that may send now. Returns the place and the time since which it has been allowed to send.
    pub fn take_free(&mut self, now_ns: u64) -> Option<(u64, Place)> {
        self.waiting.pop_front_if(|(until_ns, _)| *until_ns <= now_ns)
    }

    /// Returns the time at which the next request can be sent, or `u64::MAX` if a response must arrive first.
    pub fn wake_ns(&self) -> u64 {
        match (&self.load, self.waiting.front()) {
            (_, None) => u64::MAX,
            (Load::Closed { .. }, Some((until_ns, _))) => *until_ns,
            (Load::Open(_), Some(_)) => self.next_due_ns(),
        }
    }

    /// Returns the due times of the requests that were due before `end_ns` but haven't been sent.
    pub fn unsent(&self, end_ns: u64) -> impl Iterator<Item = u64> {
        let schedule = match &self.load {
            Load::Open(open) => Some(open.schedule.clone()),
            Load::Closed { .. } => None,
        };
        let later = schedule.into_iter().flat_map(|mut schedule| std::iter::from_fn(move || Some(schedule.next_ns())));
        let start_ns = self.start_ns;
        let due = std::iter::once(self.next_due_ns).chain(later.map(move |ns| start_ns.saturating_add(ns)));
        let returned = self.returned.iter().map(|Reverse(due_ns)| *due_ns).filter(move |due_ns| *due_ns < end_ns);
        returned.chain(due.take_while(move |due_ns| *due_ns < end_ns))
    }
}

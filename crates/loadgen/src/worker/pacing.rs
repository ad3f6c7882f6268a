//! What makes a request due: the last response (closed loop) or the schedule (open loop).

use std::collections::VecDeque;

use crate::schedule::Schedule;

/// How the load of one thread is asked for.
#[derive(Clone, Debug)]
pub enum Load {
    /// The next request when the response came and the think time is over.
    Closed { think_ns: u64 },
    /// Requests by schedule, whatever the responses do.
    Open(OpenLoop),
}

impl Load {
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// The share of one thread.
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
    /// Requests that are later than this are dropped, and counted as not sent.
    pub deadline_ns: Option<u64>,
}

/// A place for one request on a connection, as long as the connection is of this generation.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub index: u32,
    pub generation: u32,
}

pub struct Pacing {
    pub load: Load,
    /// Open loop: free places, the longest free first, so that all connections are used. Closed loop: places that think, by the end of it.
    waiting: VecDeque<(u64, Place)>,
    start_ns: u64,
    /// When the next request of the schedule is due.
    next_due_ns: u64,
}

impl Pacing {
    pub fn new(load: Load, places: usize) -> Self {
        let waiting = if matches!(load, Load::Closed { think_ns: 0 }) { VecDeque::new() } else { VecDeque::with_capacity(places) };
        Self { load, waiting, start_ns: 0, next_due_ns: u64::MAX }
    }

    pub fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.advance();
    }

    /// Moves on to the next request of the schedule.
    pub fn advance(&mut self) {
        if let Load::Open(open) = &mut self.load {
            self.next_due_ns = self.start_ns + open.schedule.next_ns();
        }
    }

    pub fn next_due_ns(&self) -> u64 {
        self.next_due_ns
    }

    /// Whether a place that became free sends its next request at once.
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

    /// A place that may send now.
    pub fn take_free(&mut self, now_ns: u64) -> Option<Place> {
        self.waiting.pop_front_if(|(until_ns, _)| *until_ns <= now_ns).map(|(_, place)| place)
    }

    /// When the next request can be sent; far in the future when it waits for a response.
    pub fn wake_ns(&self) -> u64 {
        match (&self.load, self.waiting.front()) {
            (_, None) => u64::MAX,
            (Load::Closed { .. }, Some((until_ns, _))) => *until_ns,
            (Load::Open(_), Some(_)) => self.next_due_ns,
        }
    }

    /// How many requests of the schedule were due before `end_ns` and have not been taken.
    pub fn count_unsent(&mut self, end_ns: u64) -> u64 {
        let mut unsent = 0;
        while self.next_due_ns < end_ns {
            unsent += 1;
            self.advance();
        }
        unsent
    }
}

//! How answers are heard: told of by the kernel, or asked for.
//!
//! A receive that waits in the kernel is told of by the server's core, within its send: that marks the receive, queues it for our ring and
//! wakes us. Where this core is what limits a run, as in most, that time is taken from the server. A receive that does not wait takes nothing
//! from it. So while each answer brings the next request and answers follow each other closely, we do not wait but
//! ask, those first whose turn it is. Where answers are long in coming, come in no order or are large, everybody waits in the kernel again.

use anyhow::{Context, Result};
use io_uring::opcode;
use io_uring::squeue;
use io_uring::types::{CancelBuilder, Fixed, SubmitArgs, Timespec};

use super::buffers::{self, Places};
use super::completion::Operation;
use super::{BATCH, BUFFER_BYTES, Uring};
use crate::clock::now_ns;
use crate::engine::polling::Looked;

/// With more connections than this, going over from waiting to asking and back costs about what it brings.
const CONNECTIONS_MAX: usize = 256;
/// How long to ask in vain before the thread sleeps.
const ASK_NS: u64 = 100_000;
/// Answers between two times of asking in vain that make up for it; of many connections, one each.
const ANSWERS_MIN: usize = 100;
/// So many times in a row there was something to hear before the thread slept: answers are close.
const WAKEFUL_MIN: u32 = 16;
/// After a try that failed, the next one waits for this long; each further failure doubles it, unless a try lasted. A try in vain may be the
/// fault of a machine that stood still; one that met answers out of turn or too large says something of the server, which will not
/// change soon.
const REST_MIN_NS: u64 = 1_000_000;
const REST_MAX_IN_VAIN_NS: u64 = 100_000_000;
const REST_MAX_UNFIT_NS: u64 = 10_000_000_000;
const LASTED_NS: u64 = 100_000_000;

/// Whether we ask, and whether it pays.
#[derive(Default)]
pub struct Asking {
    on: bool,
    started_ns: u64,
    /// Since we last asked in vain.
    answers: usize,
    /// An answer filled its buffer: of such bodies more is to come, which a receive that goes on by itself takes without being asked.
    large: bool,
    wakeful: u32,
    rest_ns: u64,
    rests_until_ns: u64,
    pub places: Places,
    /// Answers that were asked for.
    pub heard: u64,
    /// Time spent asking in vain.
    pub in_vain_ns: u64,
}

impl Asking {
    pub fn new(connections: u32) -> Self {
        let connections = connections as usize;
        Self { places: Places::new(if connections <= CONNECTIONS_MAX { connections } else { 0 }), ..Self::default() }
    }

    #[inline]
    pub fn note_answer(&mut self, asked: bool, bytes: usize) {
        self.answers += usize::from(self.on);
        self.heard += u64::from(asked);
        self.large |= bytes == BUFFER_BYTES;
    }

    fn note_sleep(&mut self) {
        self.wakeful = 0;
    }

    fn note_wakeful(&mut self) {
        self.wakeful = self.wakeful.saturating_add(1);
    }

    #[inline]
    fn may_start(&self, now_ns: u64) -> bool {
        !self.on && self.wakeful >= WAKEFUL_MIN && now_ns >= self.rests_until_ns
    }

    fn start(&mut self, now_ns: u64) {
        (self.on, self.started_ns, self.answers, self.large) = (true, now_ns, 0, false);
    }

    fn stop(&mut self, now_ns: u64, rest_max_ns: u64) {
        let lasted = now_ns - self.started_ns >= LASTED_NS;
        self.rest_ns = if lasted { REST_MIN_NS } else { (2 * self.rest_ns).clamp(REST_MIN_NS, rest_max_ns) };
        (self.on, self.wakeful, self.rests_until_ns) = (false, 0, now_ns + self.rest_ns);
    }
}

impl Uring {
    /// Submits what is queued, and fills the batch with what is heard within `wait_ns`, perhaps nothing.
    #[inline]
    pub(super) fn hear(&mut self, wait_ns: u64) -> Result<()> {
        self.batch.clear();
        if self.asking.on {
            return self.ask(wait_ns);
        }
        self.wait(wait_ns)?;
        self.take_batch(BATCH);
        Ok(())
    }

    /// Goes over to asking if it may pay now.
    #[inline]
    pub(super) fn consider_asking(&mut self, now_ns: u64) {
        if self.links.len() <= CONNECTIONS_MAX && self.asking.may_start(now_ns) {
            self.asking.start(now_ns);
            // The connections join as their receives end, in any order at first.
            self.turns.forgive();
        }
    }

    /// Sees to it that the next answer of this connection is heard.
    pub(super) fn listen(&mut self, index: u32) -> Result<()> {
        if !self.links[index as usize].connected {
            return Ok(());
        }
        if self.asking.on {
            self.turns.put_last(index);
            return Ok(());
        }
        let entry = opcode::RecvMulti::new(Fixed(index), buffers::GROUP).build();
        self.push(&entry.user_data(self.tag(index, Operation::Receive)))
    }

    /// A receive that goes on by itself has brought an answer: while we ask, it is ended.
    #[inline]
    pub(super) fn go_on(&mut self, index: u32) -> Result<()> {
        if !self.asking.on {
            return Ok(());
        }
        let receive = CancelBuilder::user_data(self.tag(index, Operation::Receive));
        self.push(&opcode::AsyncCancel2::new(receive).build().user_data(self.tag(index, Operation::Cancel)))
    }

    /// Asks until there is an answer.
    fn ask(&mut self, wait_ns: u64) -> Result<()> {
        let mut in_vain_since = None;
        loop {
            let asked = self.turns.next_round();
            if self.turns.is_disorderly() || self.asking.large {
                return self.stop_asking(now_ns(), REST_MAX_UNFIT_NS);
            }
            for at in 0..asked {
                self.ask_one(self.turns.asked(at))?;
            }
            self.enter()?;
            self.take_all()?;
            if self.batch.is_empty() {
                let now = now_ns();
                let waited_ns = now - *in_vain_since.get_or_insert(now);
                if waited_ns < wait_ns.min(ASK_NS) {
                    continue;
                }
                self.asking.in_vain_ns += waited_ns;
                return self.give_up_for_now(wait_ns - waited_ns.min(wait_ns), now);
            }
            if let Some(since) = in_vain_since {
                self.asking.in_vain_ns += now_ns() - since;
            }
            return Ok(());
        }
    }

    /// Nobody had an answer: sleeps until somebody has, and if there had been few before, asks no more.
    fn give_up_for_now(&mut self, wait_ns: u64, now: u64) -> Result<()> {
        if wait_ns == 0 {
            return Ok(());
        }
        if std::mem::take(&mut self.asking.answers) < self.links.len().max(ANSWERS_MIN) {
            return self.stop_asking(now, REST_MAX_IN_VAIN_NS);
        }
        while let Some(index) = self.turns.pop() {
            self.receive_once(index)?;
        }
        self.sleep(wait_ns)?;
        self.take_all()
    }

    fn stop_asking(&mut self, now: u64, rest_max_ns: u64) -> Result<()> {
        self.asking.stop(now, rest_max_ns);
        while let Some(index) = self.turns.pop() {
            self.listen(index)?;
        }
        Ok(())
    }

    /// Whatever has come, to the last one: an answer must be heard before its place takes the next one.
    #[inline]
    fn take_all(&mut self) -> Result<()> {
        self.take_batch(usize::MAX);
        while self.ring.submission().cq_overflow() {
            self.enter()?;
            self.take_batch(usize::MAX);
        }
        Ok(())
    }

    #[inline]
    fn ask_one(&mut self, index: u32) -> Result<()> {
        let place = self.asking.places.address(index);
        let entry = opcode::Recv::new(Fixed(index), place, BUFFER_BYTES as u32).flags(libc::MSG_DONTWAIT).build();
        self.push(&entry.user_data(self.tag(index, Operation::Ask)))
    }

    fn receive_once(&mut self, index: u32) -> Result<()> {
        let entry = opcode::Recv::new(Fixed(index), std::ptr::null_mut(), 0).buf_group(buffers::GROUP).build();
        self.push(&entry.flags(squeue::Flags::BUFFER_SELECT).user_data(self.tag(index, Operation::Receive)))
    }

    /// Waits until the kernel tells of something.
    fn wait(&mut self, wait_ns: u64) -> Result<()> {
        self.enter()?;
        if wait_ns == 0 || !self.ring.completion().is_empty() {
            self.asking.note_wakeful();
            return Ok(());
        }
        let ring = &mut self.ring;
        match self.polling.look(wait_ns, || ring.submission().taskrun()) {
            Looked::Found => {
                self.asking.note_wakeful();
                self.enter()
            }
            Looked::TimeIsOver => Ok(()),
            Looked::Sleep => self.sleep(wait_ns),
        }
    }

    fn sleep(&mut self, wait_ns: u64) -> Result<()> {
        self.asking.note_sleep();
        let timeout = Timespec::new().sec(wait_ns / 1_000_000_000).nsec((wait_ns % 1_000_000_000) as u32);
        match self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout)) {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                _ => Err(error).context("io_uring_enter failed"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rests after tries that fail at once.
    fn rests_ns(asking: &mut Asking, rest_max_ns: u64) -> Vec<u64> {
        let rest_ns = |now_ns| {
            asking.start(now_ns);
            asking.stop(now_ns, rest_max_ns);
            asking.rest_ns
        };
        (0..20).map(rest_ns).collect()
    }

    #[test]
    fn rests_grow_until_a_try_lasts() {
        let mut asking = Asking::default();
        assert_eq!(rests_ns(&mut asking, REST_MAX_UNFIT_NS)[..3], [REST_MIN_NS, 2 * REST_MIN_NS, 4 * REST_MIN_NS]);
        asking.start(0);
        asking.stop(LASTED_NS, REST_MAX_UNFIT_NS);
        assert_eq!(asking.rest_ns, REST_MIN_NS);
    }

    #[test]
    fn who_asked_in_vain_tries_again_sooner_than_who_met_an_unfit_server() {
        let mut asking = Asking::default();
        assert_eq!(rests_ns(&mut asking, REST_MAX_UNFIT_NS).last(), Some(&REST_MAX_UNFIT_NS));
        assert_eq!(rests_ns(&mut asking, REST_MAX_IN_VAIN_NS).last(), Some(&REST_MAX_IN_VAIN_NS));
    }

    #[test]
    fn nobody_asks_before_answers_are_close_or_during_a_rest() {
        let mut asking = Asking::default();
        assert!(!asking.may_start(0));
        (0..WAKEFUL_MIN).for_each(|_| asking.note_wakeful());
        assert!(asking.may_start(0));
        asking.start(0);
        assert!(!asking.may_start(0), "while we ask there is nothing to start");
        asking.stop(0, REST_MAX_IN_VAIN_NS);
        (0..WAKEFUL_MIN).for_each(|_| asking.note_wakeful());
        assert!(!asking.may_start(REST_MIN_NS - 1));
        assert!(asking.may_start(REST_MIN_NS));
        asking.note_sleep();
        assert!(!asking.may_start(REST_MIN_NS));
    }
}

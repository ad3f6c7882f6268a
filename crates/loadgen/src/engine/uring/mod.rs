//! The io_uring engine: one system call submits a batch of sends and collects a batch of responses.
//!
//! Each connection is a registered file, and its multishot receive stays armed from connect to close. The kernel therefore lists responses
//! in the order in which they arrive, so a response waits only for earlier ones.
//!
//! Small requests are sent from memory that never changes. The kernel posts a completion for such a send only if the send fails. The
//! connection's receive then also ends, and this is how the worker learns about the failure.

mod buffers;
mod completion;
mod ring;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use anyhow::Result;
use io_uring::cqueue;
use socket2::Socket;

use super::polling::{Looked, Polling, spacing_ns};
use super::shared_cpu::SharedCpu;
use super::socket::{Peer, close, connect_error_kind, stream_to};
use super::{Engine, SLEEP_NS_MAX, Setup};
use crate::protocol::Protocol;
use crate::time::clock::now_ns;
use crate::worker::{Alarm, End, Next, Worker};
use completion::{Completion, Operation, Tag};
use ring::Ring;

/// Maximum number of completions that are handled per reading of the clock and per submission.
const BATCH: usize = 128;
/// If the worker's next `tick` is due within this time, the clock is read again after a batch. Otherwise, the time read before the batch is
/// precise enough, because no batch takes this long.
const CLOCK_NS: u64 = 1_000_000;
/// Maximum number of bytes in flight per connection at which sends aren't tracked. This number of bytes fits into any send buffer, so the
/// kernel accepts each send as a whole and in order.
const UNTRACKED_BYTES_MAX: usize = 8 * 1024;

pub struct Uring {
    ring: Ring,
    peer: Peer,
    alarm: Option<Arc<Alarm>>,
    /// One link per connection, plus a final link without a socket for the alarm.
    links: Vec<Link>,
    batch: Vec<Completion>,
    /// Output of closed connections whose sends haven't completed. The kernel may still read this output.
    retired: Vec<(Tag, Vec<u8>)>,
    /// Connections whose receive ended because no buffer was free.
    starved: Vec<u32>,
    polling: Polling,
    shared_cpu: SharedCpu,
    /// Whether sends produce completions only if they fail.
    untracked: bool,
}

#[derive(Default)]
struct Link {
    socket: Option<Socket>,
    generation: u32,
    connected: bool,
    /// A copy of the bytes that the kernel is sending. The protocol's own output may change in the meantime.
    sending: Vec<u8>,
    /// Whether a send has failed with ECONNRESET. The kernel reports a reset only once, so a later read returns a normal end of the stream.
    reset: bool,
}

impl Uring {
    /// Checks that the kernel supports all io_uring features that this engine uses, and that no sandbox blocks them.
    pub fn check() -> Result<()> {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        Ring::new(1, nowhere.into()).map(drop)
    }
}

impl Engine for Uring {
    const NAME: &'static str = "io_uring";

    fn new(setup: Setup) -> Result<Self> {
        let links = (0..=setup.connections).map(|_| Link::default()).collect();
        let mut uring = Self {
            ring: Ring::new(setup.connections, setup.peer.address.clone())?,
            peer: setup.peer,
            alarm: setup.alarm,
            links,
            batch: Vec::with_capacity(BATCH),
            retired: Vec::new(),
            starved: Vec::new(),
            polling: Polling::default(),
            shared_cpu: SharedCpu::default(),
            untracked: false,
        };
        uring.watch_alarm()?;
        Ok(uring)
    }

    fn run<P: Protocol>(mut self, worker: &mut Worker<P>) -> Result<()> {
        self.untracked = worker.stable_output() && worker.output_bytes_max() <= UNTRACKED_BYTES_MAX;
        let mut now = now_ns();
        loop {
            if now + CLOCK_NS >= worker.wake_ns() {
                now = now_ns();
            }
            if now >= worker.wake_ns() {
                worker.tick(now);
            }
            self.do_orders(worker)?;
            if worker.is_done() {
                return Ok(());
            }
            let entered_ns = now;
            self.wait(worker.wake_ns(), spacing_ns(worker.shortest_service_ns()))?;
            worker.polled_ns = self.polling.spent_ns();
            self.batch.clear();
            self.ring.take(BATCH, &mut self.batch);
            now = now_ns();
            for at in 0..self.batch.len() {
                self.complete(worker, self.batch[at], now)?;
            }
            self.ring.buffers.publish();
            for index in std::mem::take(&mut self.starved) {
                self.arm_receive(index)?;
            }
            worker.note_read(entered_ns, self.batch.len(), self.batch.is_empty());
        }
    }
}

impl Uring {
    /// Submits queued operations and waits for completions, until `until_ns` at the latest.
    #[inline]
    fn wait(&mut self, until_ns: u64, spacing_ns: u64) -> Result<()> {
        self.ring.enter()?;
        if self.ring.has_completions() {
            return Ok(());
        }
        let wait_ns = until_ns.saturating_sub(now_ns()).min(SLEEP_NS_MAX);
        if wait_ns == 0 {
            return Ok(());
        }
        let ring = &mut self.ring;
        let mut entered = Ok(());
        let looked = self.polling.look(wait_ns, spacing_ns, || {
            entered = ring.enter();
            entered.is_err() || ring.has_completions()
        });
        if looked == Looked::Sleep { ring.sleep(wait_ns) } else { entered }
    }

    /// Closes, opens and flushes the connections that the worker has queued.
    fn do_orders<P: Protocol>(&mut self, worker: &mut Worker<P>) -> Result<()> {
        while !(worker.to_close.is_empty() && worker.to_open.is_empty() && worker.to_flush.is_empty()) {
            while let Some(index) = worker.to_close.pop() {
                self.close(index)?;
            }
            while let Some(index) = worker.to_open.pop() {
                self.open(worker, index)?;
            }
            while let Some(index) = worker.to_flush.pop() {
                self.flush(worker, index)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn tag(&self, index: u32, operation: Operation) -> Tag {
        Tag { generation: self.links[index as usize].generation, index, operation }
    }

    fn open<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32) -> Result<()> {
        let socket = match stream_to(&self.peer) {
            Ok(socket) => socket,
            Err(error) => {
                worker.connect_failed(index, connect_error_kind(&error), &error.to_string(), now_ns());
                return Ok(());
            }
        };
        self.ring.connect(self.tag(index, Operation::Connect), socket.as_fd())?;
        let link = &mut self.links[index as usize];
        link.socket = Some(socket);
        link.connected = false;
        Ok(())
    }

    /// Closes a connection. The shutdown ends the pending operations. Their completions are ignored later, because their generation is
    /// outdated.
    fn close(&mut self, index: u32) -> Result<()> {
        let send_tag = self.tag(index, Operation::Send);
        let link = &mut self.links[index as usize];
        if !link.sending.is_empty() {
            self.retired.push((send_tag, std::mem::take(&mut link.sending)));
        }
        link.reset = false;
        link.generation = link.generation.wrapping_add(1);
        let Some(socket) = link.socket.take() else { return Ok(()) };
        // Submit the operations that are queued for this socket, so that they can't affect the connection's next socket.
        self.ring.submit()?;
        close(socket);
        if std::mem::take(&mut self.links[index as usize].connected) {
            self.ring.register_socket(index, -1)?;
        }
        Ok(())
    }

    fn arm_receive(&mut self, index: u32) -> Result<()> {
        if !self.links[index as usize].connected {
            return Ok(());
        }
        self.ring.arm_receive(self.tag(index, Operation::Receive))
    }

    /// Sends pending output. If sends aren't tracked, the kernel reads the output in place. Otherwise, it reads a copy.
    #[inline]
    fn flush<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32) -> Result<()> {
        let tag = self.tag(index, Operation::Send);
        loop {
            let link = &mut self.links[index as usize];
            let output = worker.output(index);
            if output.is_empty() || !link.connected || !link.sending.is_empty() {
                return Ok(());
            }
            let length = output.len();
            let start = if self.untracked {
                output.as_ptr()
            } else {
                link.sending.extend_from_slice(output);
                link.sending.as_ptr()
            };
            worker.sent(index, length);
            // SAFETY: stable output outlives the engine, and `sending` is neither changed nor dropped before the completion.
            unsafe { self.ring.send(tag, start, length, self.untracked)? };
        }
    }

    #[inline]
    fn complete<P: Protocol>(&mut self, worker: &mut Worker<P>, completion: Completion, now: u64) -> Result<()> {
        let Completion { tag, result, .. } = completion;
        let current = self.links[tag.index as usize].generation == tag.generation;
        match tag.operation {
            Operation::Receive => self.received(worker, completion, current, now),
            Operation::Connect if current => self.connect_over(worker, tag.index, result, now),
            Operation::Send if current => {
                // The connection's receive reports a failed send to the worker.
                let link = &mut self.links[tag.index as usize];
                link.reset |= result == -libc::ECONNRESET;
                link.sending.clear();
                self.flush(worker, tag.index)
            }
            Operation::Send => {
                self.retired.retain(|(gone, _)| *gone != tag);
                Ok(())
            }
            Operation::Connect => Ok(()),
        }
    }

    /// Queues a poll that completes when the alarm rings. The poll is tagged as a connect. Connects are rare, so it costs little to check
    /// whether a connect is really the alarm.
    fn watch_alarm(&mut self) -> Result<()> {
        let Some(alarm) = &self.alarm else { return Ok(()) };
        let tag = self.tag(self.links.len() as u32 - 1, Operation::Connect);
        self.ring.watch(tag, alarm.as_fd())
    }

    fn connect_over<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32, result: i32, now: u64) -> Result<()> {
        if let Some(alarm) = self.alarm.as_ref().filter(|_| index as usize + 1 == self.links.len()) {
            alarm.clear();
            worker.wake();
            return self.watch_alarm();
        }
        if result < 0 {
            let error = io::Error::from_raw_os_error(-result);
            self.close(index)?;
            worker.connect_failed(index, connect_error_kind(&error), &error.to_string(), now);
            return Ok(());
        }
        let link = &mut self.links[index as usize];
        let Some(socket) = &link.socket else { return Ok(()) };
        let fd = socket.as_raw_fd();
        link.connected = true;
        self.ring.register_socket(index, fd)?;
        self.arm_receive(index)?;
        worker.connected(index, now);
        Ok(())
    }

    #[inline]
    fn received<P: Protocol>(&mut self, worker: &mut Worker<P>, completion: Completion, current: bool, now: u64) -> Result<()> {
        let Completion { tag: Tag { index, .. }, result, flags } = completion;
        let mut next = Next::Keep;
        if let Some(buffer) = cqueue::buffer_select(flags) {
            if current && result > 0 {
                if self.shared_cpu.is_due(now)
                    && let Some(socket) = &self.links[index as usize].socket
                    && let Some(is_shared) = self.shared_cpu.check(socket, now)
                {
                    worker.note_shared_cpu(is_shared);
                }
                // SAFETY: the kernel filled `result` bytes of this buffer, and the buffer is put back only after the last use of `bytes`.
                let bytes = unsafe { self.ring.buffers.bytes(buffer, result as usize) };
                next = worker.received(index, bytes, now);
            }
            self.ring.buffers.put_back(buffer);
        }
        if !current {
            return Ok(());
        }
        if next == Next::Close {
            return self.close(index);
        }
        if result > 0 && self.untracked {
            self.flush(worker, index)?;
        } else if result > 0 && worker.to_flush.last() != Some(&index) {
            // The batch may contain more data for this connection. Flush only once, after the whole batch, because each tracked send copies
            // the output.
            worker.to_flush.push(index);
        }
        if cqueue::more(flags) {
            return Ok(());
        }
        match -result {
            // The kernel occasionally ends a multishot receive, with or without data.
            i32::MIN..0 | libc::ECANCELED | libc::EINTR | libc::EAGAIN => self.arm_receive(index),
            libc::ENOBUFS => {
                self.starved.push(index);
                Ok(())
            }
            error => {
                let reset = error != 0 || self.links[index as usize].reset;
                self.close(index)?;
                worker.ended(index, if reset { End::Reset } else { End::Closed }, now);
                Ok(())
            }
        }
    }
}

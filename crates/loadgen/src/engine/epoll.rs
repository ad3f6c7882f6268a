//! The epoll engine. Each socket is registered once, in edge-triggered mode. After the engine has read a response, it sends the next
//! requests at once.
//!
//! This engine works on any Linux kernel. Each request costs one `recv` and one `send`, and one `epoll_pwait2` call returns the events of
//! many sockets. If a read doesn't fill the buffer, the socket is empty, so the engine skips the second `recv`, which would only return
//! EAGAIN.

use std::io::{self, ErrorKind as IoErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use anyhow::{Context, Result};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use socket2::Socket;

use super::polling::{Looked, Polling};
use super::shared_cpu::SharedCpu;
use super::socket::{Peer, close, connect_error_kind, stream_to};
use super::{Engine, SLEEP_NS_MAX, Setup};
use crate::protocol::Protocol;
use crate::time::clock::now_ns;
use crate::worker::{Alarm, End, Next, Worker};

const EVENTS_PER_WAIT: usize = 256;
const READ_BYTES: usize = 128 * 1024;
/// Minimum number of unchecked body bytes for which discarding them in the kernel is cheaper than reading them.
const DROP_BYTES_MIN: usize = 16 * 1024;
/// Maximum number of consecutive reads from one socket, so that one fast connection cannot starve the others.
const READS_IN_A_ROW: u32 = 16;
const GONE: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;

pub struct Epoll {
    peer: Peer,
    /// Whether the kernel can discard received data without copying it. TCP sockets do so with MSG_TRUNC, but other sockets still copy the
    /// data (tcp(7)).
    can_drop: bool,
    epoll: OwnedFd,
    alarm: Option<Arc<Alarm>>,
    /// One link per connection, plus a final link without a socket for the alarm.
    links: Vec<Link>,
    buffer: Box<[u8]>,
    /// Sockets that may have unread data. The flag is true if the stream is known to end after this data.
    unread: Vec<(u32, bool)>,
    /// Whether waits are limited to whole milliseconds, because `epoll_pwait2` is not available.
    coarse: bool,
    polling: Polling,
    shared_cpu: SharedCpu,
}

#[derive(Default)]
struct Link {
    socket: Option<Socket>,
    connected: bool,
    /// Whether a send has failed with ECONNRESET. The kernel reports a reset only once, so a later read returns a normal end of the stream.
    reset: bool,
}

impl Link {
    fn connected_fd(&self) -> Option<RawFd> {
        self.socket.as_ref().filter(|_| self.connected).map(AsRawFd::as_raw_fd)
    }

    fn end_of_stream(&self) -> End {
        if self.reset { End::Reset } else { End::Closed }
    }
}

/// The state of a socket after a read.
enum Read {
    /// There is nothing more to read for now.
    Drained,
    /// There may be more to read.
    More,
    /// The socket is closed, and the worker has been informed.
    Gone,
}

impl Engine for Epoll {
    const NAME: &'static str = "epoll";

    fn new(setup: Setup) -> Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).context("cannot create an epoll instance")?;
        let links = (0..=setup.connections).map(|_| Link::default()).collect();
        if let Some(alarm) = &setup.alarm {
            let data = EventData::new_u64(u64::from(setup.connections));
            epoll::add(&epoll, alarm.as_ref(), data, EventFlags::IN).context("cannot watch an eventfd")?;
        }
        Ok(Self {
            can_drop: setup.peer.is_ipv4() || setup.peer.is_ipv6(),
            peer: setup.peer,
            epoll,
            alarm: setup.alarm,
            links,
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            unread: Vec::new(),
            coarse: false,
            polling: Polling::default(),
            shared_cpu: SharedCpu::default(),
        })
    }

    fn run<P: Protocol>(mut self, worker: &mut Worker<P>) -> Result<()> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS_PER_WAIT];
        loop {
            let now = now_ns();
            if now >= worker.wake_ns() {
                worker.tick(now);
            }
            self.do_orders(worker);
            if worker.is_done() {
                return Ok(());
            }
            let entered_ns = now_ns();
            let wait_ns = if self.unread.is_empty() { worker.wake_ns().saturating_sub(entered_ns).min(SLEEP_NS_MAX) } else { 0 };
            let count = self.wait(&mut events, wait_ns)?;
            worker.polled_ns = self.polling.spent_ns();
            for event in &events[..count] {
                self.handle(worker, event.u64 as u32, event.events);
            }
            for (index, gone) in std::mem::take(&mut self.unread) {
                self.read(worker, index, gone);
            }
            worker.note_read(entered_ns, count, count < EVENTS_PER_WAIT && self.unread.is_empty());
        }
    }
}

impl Epoll {
    /// Waits up to `wait_ns` for events, and returns the number of events.
    fn wait(&mut self, events: &mut [libc::epoll_event], wait_ns: u64) -> Result<usize> {
        let count = self.take(events, 0)?;
        if count > 0 || wait_ns == 0 {
            return Ok(count);
        }
        let mut polling = std::mem::take(&mut self.polling);
        let mut taken = Ok(0);
        let looked = polling.look(wait_ns, 0, || {
            taken = self.take(events, 0);
            !matches!(taken, Ok(0))
        });
        self.polling = polling;
        if looked == Looked::Sleep { self.take(events, wait_ns) } else { taken }
    }

    fn take(&mut self, events: &mut [libc::epoll_event], wait_ns: u64) -> Result<usize> {
        let count = if self.coarse { self.wait_coarsely(events, wait_ns) } else { self.wait_precisely(events, wait_ns) };
        if count >= 0 {
            return Ok(count as usize);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => Ok(0),
            Some(libc::ENOSYS | libc::EPERM) if !self.coarse => {
                self.coarse = true;
                Ok(0)
            }
            _ => Err(error).context("waiting for epoll events failed"),
        }
    }

    fn wait_precisely(&self, events: &mut [libc::epoll_event], wait_ns: u64) -> i64 {
        let timeout = libc::timespec { tv_sec: (wait_ns / 1_000_000_000) as i64, tv_nsec: (wait_ns % 1_000_000_000) as i64 };
        let room = events.len() as libc::c_int;
        // SAFETY: `events` and `timeout` are valid during the call, and `room` is the length of `events`.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                events.as_mut_ptr(),
                room,
                &timeout,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        }
    }

    /// Waits with a resolution of milliseconds, for kernels before 5.11 and containers that block `epoll_pwait2`. The time is rounded down,
    /// and the engine polls during the remaining fraction of a millisecond, so that no request is sent late.
    fn wait_coarsely(&self, events: &mut [libc::epoll_event], wait_ns: u64) -> i64 {
        let wait_ms = (wait_ns / 1_000_000).min(60_000) as libc::c_int;
        // SAFETY: `events` is valid during the call, and the kernel writes at most `events.len()` entries.
        let count = unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), events.len() as libc::c_int, wait_ms) };
        i64::from(count)
    }

    /// Closes, opens and flushes the connections that the worker has queued.
    fn do_orders<P: Protocol>(&mut self, worker: &mut Worker<P>) {
        while !(worker.to_close.is_empty() && worker.to_open.is_empty() && worker.to_flush.is_empty()) {
            while let Some(index) = worker.to_close.pop() {
                self.close(index);
            }
            while let Some(index) = worker.to_open.pop() {
                self.open(worker, index);
            }
            while let Some(index) = worker.to_flush.pop() {
                self.flush(worker, index);
            }
        }
    }

    fn open<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32) {
        let started = stream_to(&self.peer).and_then(|socket| {
            match socket.connect(&self.peer) {
                Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
                Ok(()) | Err(_) => {}
            }
            self.register(&socket, index)?;
            Ok(socket)
        });
        match started {
            Ok(socket) => self.links[index as usize] = Link { socket: Some(socket), ..Link::default() },
            Err(error) => worker.connect_failed(index, connect_error_kind(&error), &error.to_string(), now_ns()),
        }
    }

    fn close(&mut self, index: u32) {
        if let Some(socket) = std::mem::take(&mut self.links[index as usize]).socket {
            close(socket);
        }
    }

    /// Registers a socket. EPOLLOUT rarely causes extra events, because an edge-triggered socket reports it only when a full send buffer
    /// has room again.
    fn register(&self, socket: &Socket, index: u32) -> io::Result<()> {
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(u64::from(index)), interest)?)
    }

    fn handle<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32, ready: u32) {
        let link = &mut self.links[index as usize];
        let Some(socket) = &link.socket else { return self.handle_alarm(worker, index) };
        if !link.connected {
            if let Some(error) = socket.take_error().unwrap_or_else(Some) {
                *link = Link::default();
                worker.connect_failed(index, connect_error_kind(&error), &error.to_string(), now_ns());
                return;
            }
            if ready & libc::EPOLLOUT as u32 == 0 {
                return;
            }
            link.connected = true;
            worker.connected(index, now_ns());
        }
        if ready & (libc::EPOLLIN as u32 | GONE) != 0 {
            self.read(worker, index, ready & GONE != 0);
        } else {
            self.flush(worker, index);
        }
    }

    /// Wakes up the worker if the event belongs to its alarm. Otherwise, the event belongs to a closed socket and is ignored.
    #[cold]
    fn handle_alarm<P: Protocol>(&self, worker: &mut Worker<P>, index: u32) {
        if let Some(alarm) = self.alarm.as_ref().filter(|_| index as usize + 1 == self.links.len()) {
            alarm.clear();
            worker.wake();
        }
    }

    /// Reads the available data, up to a limit, and sends the requests that become due as a result. `gone` is true if the stream ends after
    /// this data.
    fn read<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32, gone: bool) {
        for _ in 0..READS_IN_A_ROW {
            match self.read_once(worker, index) {
                Read::Gone => return,
                Read::Drained if !gone => return,
                Read::Drained | Read::More => {}
            }
        }
        self.unread.push((index, gone));
    }

    #[inline]
    fn read_once<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32) -> Read {
        let Some(fd) = self.links[index as usize].connected_fd() else { return Read::Gone };
        let droppable = worker.skippable(index);
        let drop = self.can_drop && droppable >= DROP_BYTES_MIN;
        let (capacity, flags) = if drop { (droppable.min(1 << 30), libc::MSG_TRUNC) } else { (self.buffer.len(), 0) };
        // If the kernel copied data despite MSG_TRUNC, the null pointer would make the call fail, whereas a real buffer could overflow.
        // AddressSanitizer doesn't report the null pointer.
        let room = if drop { std::ptr::null_mut() } else { self.buffer.as_mut_ptr().cast() };
        // SAFETY: the buffer is valid for its whole length, and the kernel cannot write to a null pointer.
        let count = unsafe { libc::recv(fd, room, capacity, flags) };
        let now = now_ns();
        if count <= 0 {
            return self.read_nothing(worker, index, count, now);
        }
        let count = count as usize;
        if self.shared_cpu.is_due(now)
            && let Some(socket) = &self.links[index as usize].socket
            && let Some(is_shared) = self.shared_cpu.check(socket, now)
        {
            worker.note_shared_cpu(is_shared);
        }
        let next = if drop { worker.skipped(index, count, now) } else { worker.received(index, &self.buffer[..count], now) };
        if next == Next::Close {
            self.close(index);
            return Read::Gone;
        }
        self.flush(worker, index);
        if count < capacity && !drop { Read::Drained } else { Read::More }
    }

    fn read_nothing<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32, count: isize, now: u64) -> Read {
        let end = if count == 0 {
            self.links[index as usize].end_of_stream()
        } else {
            match io::Error::last_os_error().kind() {
                IoErrorKind::WouldBlock => return Read::Drained,
                IoErrorKind::Interrupted => return Read::More,
                _ => End::Reset,
            }
        };
        self.close(index);
        worker.ended(index, end, now);
        Read::Gone
    }

    /// Sends pending output. Output that doesn't fit into the send buffer is sent when the socket is writable again.
    #[inline]
    fn flush<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32) {
        let Some(fd) = self.links[index as usize].connected_fd() else { return };
        loop {
            let output = worker.output(index);
            if output.is_empty() {
                return;
            }
            // SAFETY: `output` is valid for its whole length.
            let count = unsafe { libc::send(fd, output.as_ptr().cast(), output.len(), libc::MSG_NOSIGNAL) };
            if count < 0 {
                // epoll will report EPOLLOUT once the buffer has room again, or EPOLLHUP or EPOLLERR if the connection is broken.
                self.links[index as usize].reset |= io::Error::last_os_error().kind() == IoErrorKind::ConnectionReset;
                return;
            }
            worker.sent(index, count as usize);
        }
    }
}

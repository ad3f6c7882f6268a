//! Safe wrappers of the epoll system calls.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

pub const READ: u32 = libc::EPOLLIN as u32;
pub const WRITE: u32 = libc::EPOLLOUT as u32;
/// Event flag that makes epoll wake up one of the threads that wait for a shared listener, rather than all of them.
pub const EXCLUSIVE: u32 = libc::EPOLLEXCLUSIVE as u32;

pub struct Epoll(OwnedFd);

impl Epoll {
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointers, and the returned descriptor has no other owner.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub fn add(&self, fd: RawFd, interest: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, interest, token)
    }

    pub fn change(&self, fd: RawFd, interest: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, interest, token)
    }

    /// Waits for events and stores the tokens of ready descriptors. If there are too many events for one call, the next call returns the
    /// rest.
    pub fn wait(&self, ready: &mut Vec<u64>, timeout: Option<Duration>) -> io::Result<()> {
        const NONE: libc::epoll_event = libc::epoll_event { events: 0, u64: 0 };
        let mut events = [NONE; 256];
        let timeout_ms = timeout.map_or(-1, |time| time.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32);
        // SAFETY: `events` is valid for the given number of entries.
        let count = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), events.len() as i32, timeout_ms) };
        ready.clear();
        if count < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) };
        }
        ready.extend(events[..count as usize].iter().map(|event| event.u64));
        Ok(())
    }

    fn control(&self, operation: i32, fd: RawFd, interest: u32, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: interest, u64: token };
        // SAFETY: `event` is alive during the call.
        match unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

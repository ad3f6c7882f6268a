//! Orders from the coordinator to the workers: the windows in which to generate load, and an alarm that wakes up sleeping workers.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use crate::time::window::Window;

/// An alarm that wakes up a sleeping thread. The alarm is a file descriptor that becomes readable when the alarm goes off. An engine can therefore wait
/// for the alarm and for its sockets at the same time.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    fn ring(&self) -> io::Result<()> {
        rustix::io::write(&self.0, &1_u64.to_ne_bytes())?;
        Ok(())
    }

    /// Resets the alarm, so that the file isn't readable until the alarm rings again.
    pub fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The windows of a run, in order. Workers check for new windows only while they generate no load.
#[derive(Debug, Default)]
pub struct Windows {
    /// The number of windows so far, and the last window.
    last: Mutex<(u64, Window)>,
    alarms: Mutex<Vec<Arc<Alarm>>>,
}

impl Windows {
    /// Publishes the next window and wakes up the workers. All workers must have finished the previous window.
    pub fn set(&self, window: Window) -> io::Result<()> {
        let mut last = lock(&self.last);
        *last = (last.0 + 1, window);
        drop(last);
        self.wake_all()
    }

    /// Returns the number of windows so far and the last window, or `None` if there are no more than `known` windows.
    pub fn after(&self, known: u64) -> Option<(u64, Window)> {
        Some(*lock(&self.last)).filter(|(number, _)| *number > known)
    }

    /// Creates an alarm for a thread that sleeps until the next window.
    pub fn new_alarm(&self) -> io::Result<Arc<Alarm>> {
        let alarm = Arc::new(Alarm::new()?);
        lock(&self.alarms).push(Arc::clone(&alarm));
        Ok(alarm)
    }

    pub fn wake_all(&self) -> io::Result<()> {
        lock(&self.alarms).iter().try_for_each(|alarm| alarm.ring())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

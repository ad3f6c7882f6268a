//! When the load begins: at once, or when stdin says so.
//!
//! Load generators on several hosts begin together: each says that it is ready, and gets the same instant in terms of its own monotonic clock.
//! Whoever holds stdin also holds the run: it ends with stdin, so none goes on after the connection to its host was lost.

use std::io::{BufRead, stdin};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use anyhow::{Context, Result, bail};

use super::signal;
use crate::time::clock::now_ns;

/// From the decision to start until the start: every thread has seen it by then.
const DELAY_NS: u64 = 5_000_000;
/// No start is agreed so far ahead.
const AHEAD_NS_MAX: u64 = 3_600_000_000_000;

/// What tells the start.
#[derive(Debug)]
pub enum Starter {
    AtOnce,
    Stdin(Receiver<String>),
}

impl Starter {
    pub fn new(on_stdin: bool) -> Result<Self> {
        if !on_stdin {
            return Ok(Self::AtOnce);
        }
        let (lines, line) = sync_channel(1);
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || read(&lines)).context("cannot start a thread")?;
        Ok(Self::Stdin(line))
    }

    /// When the load is to begin, in nanoseconds of the monotonic clock; `None`: not known yet.
    pub fn start_ns(&self) -> Result<Option<u64>> {
        match self {
            Self::AtOnce => Ok(Some(now_ns() + DELAY_NS)),
            Self::Stdin(line) => match line.try_recv() {
                Ok(line) => instant(&line, now_ns()).map(Some),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(None), // its end is noted like a signal
            },
        }
    }
}

/// Passes the first line on; the end of stdin ends the run.
fn read(lines: &SyncSender<String>) {
    for line in stdin().lock().lines().map_while(Result::ok) {
        let _ = lines.try_send(line); // the first one counts
    }
    signal::end_run();
}

/// The instant that a line states. One that has passed is replaced by the next possible one, which the result shows.
fn instant(line: &str, now_ns: u64) -> Result<u64> {
    let earliest_ns = now_ns + DELAY_NS;
    if line.trim() == "now" {
        return Ok(earliest_ns);
    }
    let Ok(told_ns) = line.trim().parse::<u64>() else {
        bail!("stdin says `{}` and not when to start; hint: write nanoseconds of the monotonic clock, or `now`", line.trim());
    };
    if told_ns > now_ns + AHEAD_NS_MAX {
        bail!("the start is {} s ahead; hint: use this machine's monotonic clock", (told_ns - now_ns) / 1_000_000_000);
    }
    Ok(told_ns.max(earliest_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_states_the_start() -> Result<()> {
        let now_ns = 1_000_000_000_000;
        assert_eq!(instant("now", now_ns)?, now_ns + DELAY_NS);
        assert_eq!(instant(" 1000500000000\n", now_ns)?, 1_000_500_000_000);
        assert_eq!(instant("5", now_ns)?, now_ns + DELAY_NS, "it has passed");
        for bad in ["", "soon", "-1", "99000000000000000"] {
            assert!(instant(bad, now_ns).is_err(), "{bad}");
        }
        Ok(())
    }
}

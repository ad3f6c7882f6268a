//! Determines when the load begins: immediately, or at a time that is read from stdin.
//!
//! A start time on stdin lets load generators on several hosts start together. Each load generator reports that it is ready and then reads
//! the start time, in terms of its host's monotonic clock. If stdin is closed, the run ends, so that no load continues after the connection
//! to a host is lost.

use std::io::{BufRead, stdin};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use anyhow::{Context, Result, bail};

use super::signal;
use crate::time::clock::now_ns;

/// Time between the decision to start and the actual start. All threads must notice the decision within this time.
const DELAY_NS: u64 = 5_000_000;
/// Maximum time between now and a start time.
const AHEAD_NS_MAX: u64 = 3_600_000_000_000;

/// The source of the start signal.
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

    /// Returns the start time in nanoseconds of the monotonic clock, or `None` if it isn't known yet.
    pub fn start_ns(&self) -> Result<Option<u64>> {
        match self {
            Self::AtOnce => Ok(Some(now_ns() + DELAY_NS)),
            Self::Stdin(line) => match line.try_recv() {
                Ok(line) => instant(&line, now_ns()).map(Some),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(None), // at the end of stdin, the reader thread ends the run
            },
        }
    }
}

/// Forwards the first line from stdin. Ends the run when stdin is closed.
fn read(lines: &SyncSender<String>) {
    for line in stdin().lock().lines().map_while(Result::ok) {
        let _ = lines.try_send(line); // fails for lines after the first, so they are ignored
    }
    signal::end_run();
}

/// Parses a start time. If the time has already passed, the load starts as early as possible, and the result shows the actual start time.
fn instant(line: &str, now_ns: u64) -> Result<u64> {
    let earliest_ns = now_ns + DELAY_NS;
    if line.trim() == "now" {
        return Ok(earliest_ns);
    }
    let Ok(start_ns) = line.trim().parse::<u64>() else {
        bail!("stdin contains `{}` instead of a start time; hint: write nanoseconds of the monotonic clock, or `now`", line.trim());
    };
    if start_ns > now_ns + AHEAD_NS_MAX {
        bail!("the start time is {} s in the future; hint: use this machine's monotonic clock", (start_ns - now_ns) / 1_000_000_000);
    }
    Ok(start_ns.max(earliest_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_start_times() -> Result<()> {
        let now_ns = 1_000_000_000_000;
        assert_eq!(instant("now", now_ns)?, now_ns + DELAY_NS);
        assert_eq!(instant(" 1000500000000\n", now_ns)?, 1_000_500_000_000);
        assert_eq!(instant("5", now_ns)?, now_ns + DELAY_NS, "a start time in the past");
        for bad in ["", "soon", "-1", "99000000000000000"] {
            assert!(instant(bad, now_ns).is_err(), "{bad}");
        }
        Ok(())
    }
}

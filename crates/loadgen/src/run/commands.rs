//! The commands that control a run in slices. Each line of stdin contains one command.

use std::io::{BufRead, Read, stdin};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::{Context, Result, anyhow, bail};

use super::signal;
use crate::figures::histogram::LONGEST_NS;

/// A command from stdin. `start_ns` is the start of its load on the monotonic clock, or `None` to start at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Warmup { length_ns: u64, start_ns: Option<u64> },
    Slice { lead_in_ns: u64, window_ns: u64, start_ns: Option<u64> },
    Drop,
    End,
}

/// An event that wakes up the coordinator.
enum Event {
    Line(String),
    /// Stdin is closed, or a signal arrived.
    Interrupted,
}

/// The stream of commands from stdin.
pub struct Commands(Receiver<Event>);

impl Commands {
    /// Starts reading stdin and listening for signals.
    pub fn listen() -> Result<Self> {
        let (events, received) = channel();
        let mut signals = signal::stream().context("cannot listen for signals")?;
        let interruptions = events.clone();
        spawn("signals", move || forward_signals(&mut signals, &interruptions))?;
        spawn("stdin", move || forward_lines(&events))?;
        Ok(Self(received))
    }

    /// Waits for the next command. Returns `None` if the run is interrupted, and an error if the line isn't a valid command.
    pub fn next(&self) -> Option<Result<Command>> {
        if signal::caught() {
            return None;
        }
        match self.0.recv() {
            Ok(Event::Line(line)) => Some(parse(&line)),
            Ok(Event::Interrupted) | Err(_) => None,
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).context("cannot start a thread")?;
    Ok(())
}

fn forward_signals(signals: &mut UnixStream, events: &Sender<Event>) {
    if let Ok(1..) = signals.read(&mut [0; 1]) {
        let _ = events.send(Event::Interrupted);
    }
}

/// Forwards all lines from stdin. If stdin is closed before the command `end` arrives, nobody controls the run anymore, so this function
/// interrupts the run.
fn forward_lines(events: &Sender<Event>) {
    let mut ends = false;
    for line in stdin().lock().lines().map_while(Result::ok) {
        ends |= matches!(parse(&line), Ok(Command::End));
        // Sending fails if the coordinator no longer receives events. In that case, the line can be ignored.
        let _ = events.send(Event::Line(line));
    }
    if !ends {
        signal::end_run();
        let _ = events.send(Event::Interrupted);
    }
}

fn parse(line: &str) -> Result<Command> {
    let words: Vec<_> = line.split_ascii_whitespace().collect();
    let (words, start_ns) = match words[..] {
        [ref command @ .., "at", start] => (command, Some(clock_ns(start)?)),
        ref command => (command, None),
    };
    Ok(match (words, start_ns) {
        (["warmup", length], _) => Command::Warmup { length_ns: positive_ns(length)?, start_ns },
        (["slice", lead_in, window], _) => Command::Slice { lead_in_ns: nanoseconds(lead_in)?, window_ns: positive_ns(window)?, start_ns },
        (["drop"], None) => Command::Drop,
        (["end"], None) => Command::End,
        _ => bail!(
            "stdin contains `{}`; hint: write `warmup MS`, `slice LEAD_IN_MS WINDOW_MS` (either may end in `at CLOCK_NS`), `drop` or `end`",
            line.trim()
        ),
    })
}

/// Parses a time of the monotonic clock in nanoseconds.
fn clock_ns(text: &str) -> Result<u64> {
    text.parse().map_err(|_| anyhow!("stdin contains the start `{text}`; hint: write nanoseconds of the monotonic clock"))
}

/// Parses a number of milliseconds, which may have a fraction, and returns nanoseconds.
fn nanoseconds(text: &str) -> Result<u64> {
    let ns = text.parse::<f64>().ok().map(|ms| ms * 1e6).filter(|ns| (0.0..=LONGEST_NS as f64).contains(ns));
    ns.map(|ns| ns.round() as u64).ok_or_else(|| anyhow!("stdin contains the time `{text}`; hint: write milliseconds, at most 24 hours"))
}

fn positive_ns(text: &str) -> Result<u64> {
    match nanoseconds(text)? {
        0 => bail!("stdin contains the time `{text}`; hint: write more than 0 milliseconds"),
        ns => Ok(ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_commands() -> Result<()> {
        assert_eq!(parse("warmup 1500\n")?, Command::Warmup { length_ns: 1_500_000_000, start_ns: None });
        assert_eq!(parse("warmup 1 at 42")?, Command::Warmup { length_ns: 1_000_000, start_ns: Some(42) });
        assert_eq!(parse(" slice 0 0.25 ")?, Command::Slice { lead_in_ns: 0, window_ns: 250_000, start_ns: None });
        assert_eq!(parse("slice 12.5 100")?, Command::Slice { lead_in_ns: 12_500_000, window_ns: 100_000_000, start_ns: None });
        assert_eq!(
            parse("slice 1 2 at 9000000000")?,
            Command::Slice { lead_in_ns: 1_000_000, window_ns: 2_000_000, start_ns: Some(9_000_000_000) }
        );
        assert_eq!((parse("drop")?, parse("end")?), (Command::Drop, Command::End));
        Ok(())
    }

    #[test]
    fn an_error_names_the_line_and_the_commands() {
        for line in ["", "go", "slice 5", "slice 5 5 5", "warmup", "drop 1", "end now", "Slice 5 5", "drop at 5", "at 5"] {
            let text = parse(line).expect_err("no command").to_string();
            assert!(text.contains(&format!("`{line}`")), "{text}");
            assert!(["warmup", "slice", "drop", "end"].iter().all(|name| text.contains(name)), "{text}");
        }
        for time in ["-1", "x", "inf", "NaN", "1e12"] {
            assert!(parse(&format!("slice {time} 5")).is_err() && parse(&format!("warmup {time}")).is_err(), "{time}");
        }
        assert!(parse("slice 0 0").is_err() && parse("warmup 0").is_err());
        assert!(parse("slice 5 5 at -1").is_err() && parse("warmup 5 at 1.5").is_err());
    }
}

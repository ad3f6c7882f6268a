//! Reports progress on stderr: a live line for users, or JSON lines for programs.

use std::io::IsTerminal;

use clap::ValueEnum;
use serde::Serialize;

use super::printable::printable;
use super::stderr;
use crate::output::report::{format_count, format_us};
use crate::run::observer::{Observer, Progress, SliceSummary};
use crate::time::clock::seconds;
use crate::time::window::Phase;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressChoice {
    /// A live line if stderr is a terminal, otherwise none.
    Auto,
    /// A live line.
    Line,
    /// JSON lines.
    Json,
    None,
}

/// What ends the run.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    Duration { seconds: f64 },
    Requests { total: u64 },
}

#[derive(Debug)]
pub enum ProgressOutput {
    None,
    /// `unit` is that of the throughput.
    Line {
        goal: Goal,
        unit: &'static str,
    },
    Json,
}

impl ProgressOutput {
    pub fn new(choice: ProgressChoice, goal: Goal, unit: &'static str) -> Self {
        match choice {
            ProgressChoice::Json => Self::Json,
            ProgressChoice::Line => Self::Line { goal, unit },
            ProgressChoice::Auto if std::io::stderr().is_terminal() => Self::Line { goal, unit },
            ProgressChoice::Auto | ProgressChoice::None => Self::None,
        }
    }
}

/// A progress line of `--progress json`.
#[derive(Serialize)]
struct Event {
    event: &'static str,
    phase: &'static str,
    elapsed_s: f64,
    completed: u64,
    errors: u64,
    throughput_rps: f64,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
}

impl Event {
    fn bare(phase: &'static str) -> Self {
        Self { event: "progress", phase, elapsed_s: 0.0, completed: 0, errors: 0, throughput_rps: 0.0, p50_us: None, p99_us: None }
    }

    fn print(&self) {
        if let Ok(line) = serde_json::to_string(self) {
            print_line(&line);
        }
    }
}

/// The line of `--progress json` that reports that the load is ready to start.
#[derive(Serialize)]
struct Ready {
    event: &'static str,
    connected: u32,
}

/// The line of `--progress json` that reports a slice.
#[derive(Serialize)]
struct SliceEvent {
    event: &'static str,
    index: Option<u64>,
    start_ns: u64,
    end_ns: u64,
    duration_s: f64,
    completed: u64,
    errors: u64,
    throughput_rps: f64,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    max_us: Option<f64>,
    drain_us: f64,
    reopened: u64,
    outside: u64,
}

impl From<&SliceSummary> for SliceEvent {
    fn from(slice: &SliceSummary) -> Self {
        let SliceSummary { index, start_ns, end_ns, completed, errors, throughput_rps, .. } = *slice;
        let SliceSummary { p50_us, p99_us, max_us, drain_us, reopened, outside, .. } = *slice;
        Self {
            event: "slice",
            index,
            start_ns,
            end_ns,
            duration_s: seconds(end_ns - start_ns),
            completed,
            errors,
            throughput_rps,
            p50_us,
            p99_us,
            max_us,
            drain_us,
            reopened,
            outside,
        }
    }
}

fn print_line(line: &str) {
    stderr::offer(&format!("{line}\n"));
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Connect => "connect",
        Phase::Warmup => "warmup",
        Phase::Measure => "measure",
        Phase::Drain => "drain",
        Phase::Wait => "wait",
    }
}

impl Observer for ProgressOutput {
    fn warn(&mut self, message: &str) {
        match self {
            // A program that reads this output expects only JSON. The counts in the JSON lines contain the same information as the warning.
            Self::Json => {}
            Self::None | Self::Line { .. } => print_line(&printable(&format!("warning: {message}"))),
        }
    }

    fn ready(&mut self, connected: u32) {
        // A program may be waiting for this line, so the line must not be dropped.
        match self {
            Self::Json => stderr::insist(&serde_json::to_string(&Ready { event: "ready", connected }).unwrap_or_default()),
            Self::None | Self::Line { .. } => stderr::insist(&format!("ready: {connected} connections")),
        }
    }

    fn phase(&mut self, phase: Phase) {
        if let Self::Json = self {
            Event::bare(name(phase)).print();
        }
    }

    fn progress(&mut self, progress: &Progress) {
        let Progress { phase, elapsed_s, completed, errors, throughput_rps, p50_us, p99_us } = *progress;
        match self {
            Self::None => {}
            Self::Json => {
                Event { event: "progress", phase: name(phase), elapsed_s, completed, errors, throughput_rps, p50_us, p99_us }.print()
            }
            Self::Line { goal, unit } => {
                let of = match goal {
                    Goal::Duration { seconds } if phase == Phase::Measure => format!("{elapsed_s:.0}/{seconds:.0} s"),
                    Goal::Requests { total } if phase == Phase::Measure => {
                        format!("{}/{} requests", format_count(completed as f64), format_count(*total as f64))
                    }
                    Goal::Duration { .. } | Goal::Requests { .. } => format!("{elapsed_s:.1} s"),
                };
                let rate = format_count(throughput_rps);
                let (p50, p99) = (format_us(p50_us), format_us(p99_us));
                let phase = name(phase);
                stderr::offer(&format!("\r\x1b[K{phase} {of}  {rate} {unit}  p50 {p50}  p99 {p99}  errors {errors}"));
            }
        }
    }

    fn slice(&mut self, slice: &SliceSummary) {
        match self {
            Self::None => {}
            // A program waits for this line, so the line must not be dropped.
            Self::Json => stderr::insist(&serde_json::to_string(&SliceEvent::from(slice)).unwrap_or_default()),
            Self::Line { .. } => {
                let name = slice.index.map_or("warmup".to_owned(), |index| format!("slice {index}"));
                let rate = format_count(slice.throughput_rps);
                let (p50, p99, errors) = (format_us(slice.p50_us), format_us(slice.p99_us), slice.errors);
                stderr::offer(&format!("\r\x1b[K{name}  {rate} requests/s  p50 {p50}  p99 {p99}  errors {errors}"));
            }
        }
    }

    fn done(&mut self) {
        match self {
            Self::None => {}
            Self::Json => Event::bare("done").print(),
            Self::Line { .. } => stderr::offer("\r\x1b[K"),
        }
    }
}

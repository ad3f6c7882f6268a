//! Reports progress on stderr: a live line for users, or JSON lines for programs.

use std::io::IsTerminal;

use clap::ValueEnum;
use serde::Serialize;

use super::printable::printable;
use super::stderr;
use crate::output::report::{format_count, format_us};
use crate::run::observer::{Observer, Progress};
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

#[derive(Debug)]
pub enum ProgressOutput {
    None,
    Line { duration_s: f64 },
    Json,
}

impl ProgressOutput {
    pub fn new(choice: ProgressChoice, duration_s: f64) -> Self {
        match choice {
            ProgressChoice::Json => Self::Json,
            ProgressChoice::Line => Self::Line { duration_s },
            ProgressChoice::Auto if std::io::stderr().is_terminal() => Self::Line { duration_s },
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

/// The line of `--progress json` that reports readiness.
#[derive(Serialize)]
struct Ready {
    event: &'static str,
    connected: u32,
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
    }
}

impl Observer for ProgressOutput {
    fn warn(&mut self, message: &str) {
        match self {
            // Programs expect JSON only, and the counts contain the same information.
            Self::Json => {}
            Self::None | Self::Line { .. } => print_line(&printable(&format!("warning: {message}"))),
        }
    }

    fn ready(&mut self, connected: u32) {
        // A program may be waiting for this line, so it must not be dropped.
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
            Self::Line { duration_s } => {
                let of = if phase == Phase::Measure { format!("{elapsed_s:.0}/{duration_s:.0} s") } else { format!("{elapsed_s:.1} s") };
                let rate = format_count(throughput_rps);
                let (p50, p99) = (format_us(p50_us), format_us(p99_us));
                let phase = name(phase);
                stderr::offer(&format!("\r\x1b[K{phase} {of}  {rate} requests/s  p50 {p50}  p99 {p99}  errors {errors}"));
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

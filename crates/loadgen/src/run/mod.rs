//! Executes a plan: starts the threads, sets the window, merges the spans and returns the result.

mod commands;
mod crew;
pub mod first_response;
mod gather;
mod generator_cost;
mod measured;
pub mod observer;
pub mod open_files;
mod panics;
pub mod plan;
pub mod signal;
mod slices;
mod start;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::endpoint::addresses;
use crate::engine::Peer;
use crate::figures::encoding::Encoder;
use crate::figures::errors::ErrorKind;
use crate::figures::events::EVENT_HISTOGRAMS;
use crate::figures::pool::Pool;
use crate::figures::recorder::HISTOGRAMS;
use crate::figures::result::RunResult;
use crate::protocol::Fault;
use crate::time::clock::now_ns;
use crate::time::coordinator_pauses::Pauses;
use crate::time::window::{Phase, Window};
use crate::worker::{Report, Shared};
use commands::Commands;
use crew::{Failure, Member, choose_engine, pin};
use gather::Gather;
use observer::Observer;
use plan::Plan;
use slices::{Slices, Tally};
use start::Starter;

/// Interval at which the coordinator checks whether the threads are ready or a signal has arrived.
const LOOK: Duration = Duration::from_millis(1);
/// Number of recorders per thread: one in use, one on its way to the coordinator, and two spares in case the coordinator falls behind.
const RECORDERS: usize = 4;
/// Maximum number of spans per thread that may wait for the coordinator. The channel is bounded because an unbounded channel would allocate
/// memory during the run.
const REPORTS: usize = 32;
/// Number of operations that the coordinator performs on each histogram of a span: merging and resetting.
const PIECES: u32 = 2;

/// The reason why a run ended before anything was measured.
#[derive(Debug)]
pub enum NotStarted {
    Interrupted,
    /// A load thread failed or a command was invalid. The string contains the reason.
    Failed(String),
    /// The run ended before any slice was kept.
    NoSlice,
    /// No connection could be set up.
    CannotConnect {
        authority: String,
        /// The last failure to connect; `None` if no attempt has failed.
        fault: Option<Fault>,
    },
}

impl std::error::Error for NotStarted {}

impl fmt::Display for NotStarted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => formatter.write_str("interrupted before the measurement"),
            Self::Failed(reason) => formatter.write_str(reason),
            Self::NoSlice => formatter.write_str("no slice was measured; hint: write `slice LEAD_IN_MS WINDOW_MS` before `end`"),
            Self::CannotConnect { authority, fault: None } => write!(formatter, "cannot connect to {authority}: no connection was set up"),
            Self::CannotConnect { authority, fault: Some(fault) } => {
                let hint = if fault.kind == ErrorKind::ConnectRefused { "; hint: check that the server is running" } else { "" };
                write!(formatter, "cannot connect to {authority}: {}{hint}", fault.reason)
            }
        }
    }
}

/// Runs the plan until it is complete, a signal arrives, or a load thread fails.
pub fn run(plan: &Plan, observer: &mut dyn Observer) -> Result<RunResult> {
    observer.phase(Phase::Connect);
    let address = plan.addresses.first_that_accepts(plan.timeout)?.clone();
    let peer = plan.peer(address)?;
    let plan = &declared(plan, &peer)?;
    pin(&plan.cpus)?; // this thread merges spans during the run and must not use other CPUs
    panics::keep();
    let starter = Starter::new(plan.start_on_stdin)?;
    let commands = plan.slices_on_stdin.then(Commands::listen).transpose()?;
    let shared = Arc::new(Shared::new(plan.slices_on_stdin, plan.requests_total.filter(|_| !plan.load.is_open())));
    let failure = Arc::new(Failure::default());
    let (engine, engine_fallback) = choose_engine(plan.engine);
    let threads = plan.threads as usize;
    let parts = plan.requests.parts().len();
    // In a run in slices, the coordinator works only while there is no load, so it needs no pauses.
    let histograms = HISTOGRAMS + parts as u32 + if plan.sse { EVENT_HISTOGRAMS } else { 0 };
    let pieces = PIECES * histograms * (plan.threads + 1);
    let pauses = if plan.slices_on_stdin { Pauses::NONE } else { Pauses::new(plan.interval, pieces) };
    // The extra recorder is for the span that is held back until the next span is complete.
    let recorders = if plan.slices_on_stdin { slices::recorders(threads) } else { RECORDERS * threads + 1 };
    let pool = Arc::new(Pool::new(plan.load.is_open(), parts, recorders, pauses));
    let (reports, gathered) = sync_channel(REPORTS * threads);
    let mut crew = Vec::new();
    for thread in 0..plan.threads {
        let member = Member {
            plan: plan.clone(),
            peer: peer.clone(),
            engine,
            thread,
            shared: Arc::clone(&shared),
            failure: Arc::clone(&failure),
            reports: reports.clone(),
            pool: Arc::clone(&pool),
        };
        crew.push(member.start().inspect_err(|_| shared.stop())?);
    }
    drop(reports);
    let encoder = Encoder::primed(); // do this now, because only milliseconds remain between connecting and the start of the load
    let team = Team { plan, shared: &shared, failure: &failure, pool: &pool, reports: &gathered, crew };
    let measured = match &commands {
        _ if !wait_until_ready(plan, &shared, &failure) => {
            team.stop();
            None
        }
        Some(commands) => team.measure_slices(commands, encoder, engine, observer),
        None => team.measure_once(&starter, pauses, encoder, engine, observer)?,
    };
    let Some(mut result) = measured else { return Err(why_nothing_was_measured(plan, &shared, &failure).into()) };
    result.generator.engine_fallback = engine_fallback;
    Ok(RunResult { failure: failure.first(), connect_failure: last_failure(&shared).map(|fault| fault.reason.into_owned()), ..result })
}

/// The load threads, and the data that the coordinator shares with them.
struct Team<'a> {
    plan: &'a Plan,
    shared: &'a Shared,
    failure: &'a Failure,
    pool: &'a Pool,
    reports: &'a Receiver<Report>,
    crew: Vec<JoinHandle<()>>,
}

impl Team<'_> {
    /// Measures one window. Returns `None` if the run ends before the window starts.
    fn measure_once(
        self,
        starter: &Starter,
        pauses: Pauses,
        encoder: Encoder,
        engine: &'static str,
        observer: &mut dyn Observer,
    ) -> Result<Option<RunResult>> {
        let Self { plan, shared, failure, pool, reports, .. } = self;
        let Some(window) = wait_for_start(plan, shared, failure, starter, observer).inspect_err(|_| shared.stop())? else {
            self.stop();
            return Ok(None);
        };
        let mut gather = Gather::new(plan, window, pool, pauses, encoder);
        warn_of_missing(plan, shared, observer);
        observe(&mut gather, shared, reports, observer);
        self.stop();
        for report in reports.try_iter() {
            gather.take(report, observer);
        }
        let mut result = gather.finish(engine, observer);
        if let Some(total) = plan.requests_total {
            result.config.duration_s = result.duration_s;
            if shared.unreachable.load(Ordering::Relaxed) {
                failure.note_reason(&unreachable(plan, &result, total));
            }
        }
        Ok(Some(result))
    }

    /// Measures slices on command. Returns `None` if no slice was kept.
    fn measure_slices(self, commands: &Commands, encoder: Encoder, engine: &'static str, observer: &mut dyn Observer) -> Option<RunResult> {
        let Self { plan, shared, failure, pool, reports, .. } = self;
        warn_of_missing(plan, shared, observer);
        observer.ready(shared.connected.load(Ordering::Relaxed));
        let measured = Slices { plan, shared, failure, reports }.run(commands, Tally::new(plan, pool, encoder), observer);
        self.stop();
        let mut result = measured?.result(plan, engine);
        result.config.duration_s = result.duration_s;
        Some(result)
    }

    fn stop(self) {
        self.shared.stop();
        for thread in self.crew {
            let _ = thread.join(); // if the thread panicked, the panic has already been recorded
        }
    }
}

/// Returns the plan with the complete configuration that the result reports. The address and the congestion control are known only after an
/// address has been selected.
fn declared(plan: &Plan, peer: &Peer) -> Result<Plan> {
    let mut plan = plan.clone();
    plan.config.address = addresses::describe(&peer.address);
    plan.config.source_addresses = peer.sources.addresses().iter().map(ToString::to_string).collect();
    plan.config.congestion_control = peer.effective_congestion_control().context("cannot create a socket")?;
    Ok(plan)
}

/// Waits until every connection is set up or has failed. Returns false if no connection was set up or the run must end early.
fn wait_until_ready(plan: &Plan, shared: &Shared, failure: &Failure) -> bool {
    while shared.ready.load(Ordering::Acquire) < plan.threads {
        if signal::caught() || failure.first().is_some() {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    shared.connected.load(Ordering::Relaxed) > 0
}

/// Waits for the start signal, then sets the window and returns it. Returns `None` if the run ends before the signal arrives.
fn wait_for_start(
    plan: &Plan,
    shared: &Shared,
    failure: &Failure,
    starter: &Starter,
    observer: &mut dyn Observer,
) -> Result<Option<Window>> {
    if plan.start_on_stdin {
        observer.ready(shared.connected.load(Ordering::Relaxed));
    }
    let warmup_start_ns = loop {
        if signal::caught() || failure.first().is_some() {
            return Ok(None);
        }
        if let Some(start_ns) = starter.start_ns()? {
            break start_ns;
        }
        std::thread::sleep(LOOK);
    };
    let measure_start_ns = warmup_start_ns + plan.warmup.as_nanos() as u64;
    let end_ns = measure_start_ns + plan.duration.as_nanos() as u64;
    let window = Window { warmup_start_ns, measure_start_ns, end_ns, interval_ns: plan.interval.as_nanos() as u64 };
    shared.window.set(window).context("cannot wake up the load threads")?;
    Ok(Some(window))
}

fn warn_of_missing(plan: &Plan, shared: &Shared, observer: &mut dyn Observer) {
    let connected = shared.connected.load(Ordering::Relaxed);
    if connected < plan.connections {
        let reason = last_failure(shared).map(|fault| fault.reason).unwrap_or_default();
        observer.warn(&format!(
            "only {connected} of {} connections were set up ({reason}); the load generator retries the others",
            plan.connections
        ));
    }
}

/// Returns why a run ended before it had sent all its requests.
fn unreachable(plan: &Plan, result: &RunResult, total: u64) -> String {
    let (authority, timeout_s) = (plan.url.authority(), plan.timeout.as_secs_f64());
    let left = total.saturating_sub(result.requests.sent - result.requests.unprocessed + result.errors.not_sent);
    format!("no connection to {authority} for longer than the timeout of {timeout_s} s; {left} of {total} requests were not sent")
}

fn last_failure(shared: &Shared) -> Option<Fault> {
    shared.connect_failure.lock().ok().and_then(|failure| failure.clone())
}

fn why_nothing_was_measured(plan: &Plan, shared: &Shared, failure: &Failure) -> NotStarted {
    if signal::caught() {
        return NotStarted::Interrupted;
    }
    match failure.first() {
        Some(reason) => NotStarted::Failed(reason),
        None if plan.slices_on_stdin && shared.connected.load(Ordering::Relaxed) > 0 => NotStarted::NoSlice,
        None => NotStarted::CannotConnect { authority: plan.url.authority(), fault: last_failure(shared) },
    }
}

/// Processes spans as they arrive and announces phases when they begin, until all threads are done.
fn observe(gather: &mut Gather, shared: &Shared, gathered: &Receiver<Report>, observer: &mut dyn Observer) {
    loop {
        let wait = gather.announce_phases(now_ns(), observer).map_or(50 * LOOK, Duration::from_nanos).min(50 * LOOK);
        match gathered.recv_timeout(wait) {
            Ok(report) => gather.take(report, observer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if signal::caught() {
            shared.stop();
        }
    }
}

//! Executes a plan: starts the threads, fixes the window, merges the spans and returns the result.

mod crew;
mod gather;
mod generator_cost;
pub mod observer;
pub mod open_files;
mod panics;
pub mod plan;
pub mod signal;
mod start;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::endpoint::addresses;
use crate::engine::Peer;
use crate::figures::encoding::Encoder;
use crate::figures::errors::ErrorKind;
use crate::figures::pool::Pool;
use crate::figures::recorder::HISTOGRAMS;
use crate::figures::result::RunResult;
use crate::protocol::Fault;
use crate::time::clock::now_ns;
use crate::time::coordinator_pauses::Pauses;
use crate::time::window::{Phase, Window};
use crate::worker::{Report, Shared};
use crew::{Failure, Member, choose_engine, pin};
use gather::Gather;
use observer::Observer;
use plan::Plan;
use start::Starter;

/// How often the coordinator checks whether the threads are ready or a signal arrived.
const LOOK: Duration = Duration::from_millis(1);
/// Recorders per thread: one in use, one in transit, and two spares in case the coordinator falls behind.
const RECORDERS: usize = 4;
/// Spans of each thread that may wait for the coordinator. The channel is bounded because an unbounded one allocates during the run.
const REPORTS: usize = 32;
/// Operations of the coordinator on each histogram of a span: merging and resetting.
const PIECES: u32 = 2;

/// Why a run ended before anything was measured.
#[derive(Debug)]
pub enum NotStarted {
    Interrupted,
    /// A load thread failed, for this reason.
    ThreadFailed(String),
    /// No connection could be set up.
    CannotConnect {
        authority: String,
        /// The last failure, if any.
        fault: Option<Fault>,
    },
}

impl std::error::Error for NotStarted {}

impl fmt::Display for NotStarted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => formatter.write_str("interrupted before the measurement"),
            Self::ThreadFailed(reason) => formatter.write_str(reason),
            Self::CannotConnect { authority, fault: None } => write!(formatter, "cannot connect to {authority}: no connection was set up"),
            Self::CannotConnect { authority, fault: Some(fault) } => {
                let hint = if fault.kind == ErrorKind::ConnectRefused { "; hint: check that the server is running" } else { "" };
                write!(formatter, "cannot connect to {authority}: {}{hint}", fault.reason)
            }
        }
    }
}

/// Runs the plan until it is complete, a signal arrives, or a load thread fails.
pub fn run(plan: &Plan, observer: &mut impl Observer) -> Result<RunResult> {
    observer.phase(Phase::Connect);
    let address = plan.addresses.first_that_accepts(plan.timeout)?.clone();
    let peer = Peer { address, congestion_control: plan.congestion_control.clone() };
    let plan = &declared(plan, &peer)?;
    pin(&plan.cpus)?; // this thread merges spans during the run and must not use other CPUs
    panics::keep();
    let starter = Starter::new(plan.start_on_stdin)?;
    let shared = Arc::new(Shared::default());
    let failure = Arc::new(Failure::default());
    let (engine, engine_fallback) = choose_engine(plan.engine);
    let threads = plan.threads as usize;
    let parts = plan.requests.parts();
    let pauses = Pauses::new(plan.interval, PIECES * (HISTOGRAMS + parts as u32) * (plan.threads + 1));
    let recorders = RECORDERS * threads + 1; // the extra one is the span that is held back until the next is complete
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
        crew.push(member.start().inspect_err(|_| shared.stop.store(true, Ordering::Relaxed))?);
    }
    drop(reports);
    let encoder = Encoder::primed(); // now, while the threads connect: the window begins milliseconds after it is fixed
    let window = if wait_until_ready(plan, &shared, &failure) {
        wait_for_start(plan, &shared, &failure, &starter, observer).inspect_err(|_| shared.stop.store(true, Ordering::Relaxed))?
    } else {
        None
    };
    let mut gather = Gather::new(plan, window.unwrap_or_default(), &pool, pauses, encoder);
    if window.is_some() {
        warn_of_missing(plan, &shared, observer);
        observe(&mut gather, &shared, &gathered, observer);
    }
    shared.stop.store(true, Ordering::Relaxed);
    let finals: Vec<_> = crew.into_iter().map(|handle| handle.join().unwrap_or_default()).collect();
    if window.is_none() {
        return Err(why_not_started(plan, &shared, &failure).into());
    }
    for report in gathered.try_iter() {
        gather.take(report, observer);
    }
    let mut result = gather.finish(engine, &finals, observer);
    result.generator.engine_fallback = engine_fallback;
    Ok(RunResult { failure: failure.first(), connect_failure: last_failure(&shared).map(|fault| fault.reason.into_owned()), ..result })
}

/// Adds to the plan's configuration what is known only after connecting, for the result to report.
fn declared(plan: &Plan, peer: &Peer) -> Result<Plan> {
    let mut plan = plan.clone();
    plan.config.address = addresses::describe(&peer.address);
    plan.config.congestion_control = peer.effective_congestion_control().context("cannot create a socket")?;
    Ok(plan)
}

/// Waits until every connection is set up or has failed. Returns false if there is nothing to measure.
fn wait_until_ready(plan: &Plan, shared: &Shared, failure: &Failure) -> bool {
    while shared.ready.load(Ordering::Acquire) < plan.threads {
        if signal::caught() || failure.first().is_some() {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    shared.connected.load(Ordering::Relaxed) > 0
}

/// Waits for the start signal and fixes the window. Returns `None` if the run ends before that.
fn wait_for_start(
    plan: &Plan,
    shared: &Shared,
    failure: &Failure,
    starter: &Starter,
    observer: &mut impl Observer,
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
    shared.window.get_or_init(|| window);
    Ok(Some(window))
}

fn warn_of_missing(plan: &Plan, shared: &Shared, observer: &mut impl Observer) {
    let connected = shared.connected.load(Ordering::Relaxed);
    if connected < plan.connections {
        let reason = last_failure(shared).map(|fault| fault.reason).unwrap_or_default();
        observer.warn(&format!("only {connected} of {} connections were set up ({reason}); the others are retried", plan.connections));
    }
}

fn last_failure(shared: &Shared) -> Option<Fault> {
    shared.connect_failure.lock().ok().and_then(|failure| failure.clone())
}

fn why_not_started(plan: &Plan, shared: &Shared, failure: &Failure) -> NotStarted {
    if signal::caught() {
        return NotStarted::Interrupted;
    }
    match failure.first() {
        Some(reason) => NotStarted::ThreadFailed(reason),
        None => NotStarted::CannotConnect { authority: plan.url.authority(), fault: last_failure(shared) },
    }
}

/// Processes spans as they arrive and announces phases when they begin, until all threads are done.
fn observe(gather: &mut Gather, shared: &Shared, gathered: &Receiver<Report>, observer: &mut impl Observer) {
    loop {
        let wait = gather.announce_phases(now_ns(), observer).map_or(50 * LOOK, Duration::from_nanos).min(50 * LOOK);
        match gathered.recv_timeout(wait) {
            Ok(report) => gather.take(report, observer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if signal::caught() {
            shared.stop.store(true, Ordering::Relaxed);
        }
    }
}

//! Runs a plan: starts the threads, says when the window begins, gathers their slices, and makes the result of them.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Once, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::thread::{CpuSet, sched_setaffinity, set_current_timer_slack};

use crate::clock::now_ns;
use crate::endpoint;
use crate::engine::{Engine, EngineChoice, Epoll, Peer, Setup, Uring};
use crate::gather::Gather;
use crate::output::Observer;
use crate::pauses::Pauses;
use crate::plan::Plan;
use crate::protocol::Protocol;
use crate::protocol::http1::Http1;
use crate::protocol::http2::Http2;
use crate::protocol::tls::Tls;
use crate::protocol::tunnel::Tunnel;
use crate::recorder::{HISTOGRAMS, Pool};
use crate::result::RunResult;
use crate::signal;
use crate::summary::Encoder;
use crate::window::{Phase, Window};
use crate::worker::{Final, Limits, Report, Shared, Worker};

/// How often the coordinator looks whether the threads are ready, or a signal came.
const LOOK: Duration = Duration::from_millis(1);
/// From the decision to start until the start: every thread has seen it by then.
const START_DELAY_NS: u64 = 5_000_000;
/// Recorders for each thread: the one in use, one on its way, and two in reserve for a coordinator that is late.
const RECORDERS: usize = 4;
/// Slices of each thread that may wait for the coordinator. Their places are taken at once: a channel without bound grows as it is used.
const REPORTS: usize = 32;
/// What the coordinator does with each histogram of a slice: it adds it to others, and empties it.
const PIECES: u32 = 2;
/// What the names of load threads begin with.
const THREAD_NAME: &str = "load-";

type Crew = Vec<JoinHandle<Final>>;

/// Runs the plan to its end, to the first signal, or to the first failure of a load thread.
pub fn run(plan: &Plan, observer: &mut impl Observer) -> Result<RunResult> {
    observer.phase(Phase::Connect);
    let address = plan.addresses.first_that_accepts(plan.timeout)?.clone();
    let peer = Peer { address, congestion_control: plan.congestion_control.clone() };
    let plan = &declared(plan, &peer)?;
    pin(&plan.cpus)?; // this thread works while the others measure: it stays on their CPUs
    note_panics();
    let shared = Arc::new(Shared::default());
    let failure = Arc::new(Failure::default());
    let engine = choose_engine(plan.engine);
    let threads = plan.threads as usize;
    let pauses = Pauses::new(plan.interval, PIECES * HISTOGRAMS * (plan.threads + 1));
    let pool = Arc::new(Pool::new(plan.load.is_open(), RECORDERS * threads + 1, pauses)); // one slice is held until the next is complete
    let (reports, gathered) = sync_channel(REPORTS * threads);
    let mut crew = Crew::new();
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
    let encoder = Encoder::primed(); // while the threads connect: once the window is fixed, it begins within milliseconds
    let window = wait_until_ready(plan, &shared, &failure);
    let mut gather = Gather::new(plan, window.unwrap_or_default(), &pool, pauses, encoder);
    if window.is_some() {
        warn_of_missing(plan, &shared, observer);
        observe(&mut gather, &shared, &gathered, observer);
    }
    shared.stop.store(true, Ordering::Relaxed);
    let finals: Vec<_> = crew.into_iter().map(|handle| handle.join().unwrap_or_default()).collect();
    if window.is_none() {
        bail!(why_not_started(plan, &shared, &failure));
    }
    for report in gathered.try_iter() {
        gather.take(report, observer);
    }
    let result = gather.finish(engine, &finals, observer);
    observer.done();
    Ok(RunResult { failure: failure.first(), connect_failure: last_failure(&shared), ..result })
}

/// The plan with what is only known when the run begins, for the result to say.
fn declared(plan: &Plan, peer: &Peer) -> Result<Plan> {
    let mut plan = plan.clone();
    plan.config.address = endpoint::describe(&peer.address);
    plan.config.congestion_control = peer.effective_congestion_control().context("cannot create a socket")?;
    Ok(plan)
}

/// Why the load generator itself cannot go on.
#[derive(Debug, Default)]
struct Failure(OnceLock<String>);

impl Failure {
    /// Only the first one counts: it stops the other threads.
    fn note(&self, thread: u32, reason: &str) {
        self.0.get_or_init(|| format!("load thread {thread} failed: {reason}"));
    }

    fn first(&self) -> Option<String> {
        self.0.get().cloned()
    }
}

/// The best engine that is allowed here, or the one that was asked for, by its name.
fn choose_engine(choice: EngineChoice) -> &'static str {
    match choice {
        EngineChoice::Auto if Uring::available() => Uring::NAME,
        EngineChoice::IoUring => Uring::NAME,
        EngineChoice::Auto | EngineChoice::Epoll => Epoll::NAME,
    }
}

/// What one thread is given.
struct Member {
    plan: Plan,
    peer: Peer,
    engine: &'static str,
    thread: u32,
    shared: Arc<Shared>,
    failure: Arc<Failure>,
    reports: SyncSender<Report>,
    pool: Arc<Pool>,
}

impl Member {
    fn start(self) -> Result<JoinHandle<Final>> {
        let name = format!("{THREAD_NAME}{}", self.thread);
        std::thread::Builder::new().name(name).spawn(move || self.work()).context("cannot start a thread")
    }

    /// Whatever goes wrong here ends the run for all threads, and is reported.
    fn work(self) -> Final {
        let (thread, shared, failure) = (self.thread, Arc::clone(&self.shared), Arc::clone(&self.failure));
        let worked = panic::catch_unwind(AssertUnwindSafe(|| {
            pin(self.plan.cpu_of(thread).as_slice())?;
            wake_precisely();
            self.speak()
        }));
        let reason = match worked {
            Ok(Ok(last)) => return last,
            Ok(Err(error)) => format!("{error:#}"),
            Err(_) => PANIC.take(),
        };
        failure.note(thread, &reason);
        shared.stop.store(true, Ordering::Relaxed);
        Final::default()
    }

    /// Picks the protocol: from here on everything is compiled for it.
    fn speak(self) -> Result<Final> {
        let plan = self.plan.clone();
        let requests = plan.requests.clone().of_thread(self.thread, plan.threads, plan.seed);
        let authority = plan.url.authority();
        match (plan.http2, plan.tls.clone(), plan.proxied) {
            (true, None, _) => self.drive(Http2::new(requests)),
            (true, Some(tls), _) => self.drive(Tls::new(Http2::new(requests), tls)),
            (false, None, false) => self.drive(Http1::new(requests)),
            (false, Some(tls), false) => self.drive(Tls::new(Http1::new(requests), tls)),
            (false, None, true) => self.drive(Tunnel::new(Http1::new(requests), &authority)),
            (false, Some(tls), true) => self.drive(Tunnel::new(Tls::new(Http1::new(requests), tls), &authority)),
        }
    }

    fn drive<P: Protocol>(self, protocol: P) -> Result<Final> {
        let Self { plan, peer, engine, thread, shared, failure, reports, pool } = self;
        let setup = Setup { peer, connections: plan.connections_of(thread) };
        let load = plan.load.clone().of_thread(thread, plan.threads, plan.seed);
        let mut worker = Worker::new(protocol, setup.connections, limits(&plan), load, Arc::clone(&shared), reports, pool);
        let driven = if engine == Uring::NAME {
            Uring::new(setup).and_then(|engine| engine.run(&mut worker))
        } else {
            Epoll::new(setup).and_then(|engine| engine.run(&mut worker))
        };
        if let Err(error) = driven {
            failure.note(thread, &format!("{error:#}"));
            shared.stop.store(true, Ordering::Relaxed);
            worker.give_up(now_ns());
        }
        worker.finished().context("the engine ended before the run")
    }
}

fn limits(plan: &Plan) -> Limits {
    Limits {
        depth: plan.pipeline,
        requests_per_connection: plan.requests_per_connection.unwrap_or(u64::MAX),
        timeout_ns: plan.timeout.as_nanos() as u64,
    }
}

/// Pins the calling thread to these CPUs, if any.
fn pin(cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu >= CpuSet::MAX_CPU {
            bail!("there is no CPU {cpu}");
        }
        set.set(*cpu);
    }
    let names: Vec<_> = cpus.iter().map(usize::to_string).collect();
    sched_setaffinity(None, &set).with_context(|| format!("cannot pin a thread to CPU {}", names.join(",")))
}

/// The kernel may delay timers by 50 us to wake up less often; a schedule is better kept to the microsecond.
fn wake_precisely() {
    // Where it is not allowed, timers are late, and the schedule lag shows it.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

thread_local! {
    /// What the last panic of this thread said.
    static PANIC: RefCell<String> = RefCell::default();
}

/// From now on a panic of a load thread is kept for the result; others are printed as ever.
fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if std::thread::current().name().is_some_and(|name| name.starts_with(THREAD_NAME)) {
                PANIC.set(info.to_string().replace('\n', " "));
            } else {
                usual(info);
            }
        }));
    });
}

/// Waits until all connections are set up or have failed to, and fixes the window; `None` when there is nothing to measure.
fn wait_until_ready(plan: &Plan, shared: &Shared, failure: &Failure) -> Option<Window> {
    while shared.ready.load(Ordering::Acquire) < plan.threads {
        if signal::caught() || failure.first().is_some() {
            return None;
        }
        std::thread::sleep(LOOK);
    }
    if shared.connected.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let warmup_start_ns = now_ns() + START_DELAY_NS;
    let measure_start_ns = warmup_start_ns + plan.warmup.as_nanos() as u64;
    let end_ns = measure_start_ns + plan.duration.as_nanos() as u64;
    let window = Window { warmup_start_ns, measure_start_ns, end_ns, interval_ns: plan.interval.as_nanos() as u64 };
    shared.window.get_or_init(|| window);
    Some(window)
}

fn warn_of_missing(plan: &Plan, shared: &Shared, observer: &mut impl Observer) {
    let connected = shared.connected.load(Ordering::Relaxed);
    if connected < plan.connections {
        let reason = last_failure(shared).unwrap_or_default();
        observer.warn(&format!(
            "only {connected} of {} connections were set up at first ({reason}); the others are tried again",
            plan.connections
        ));
    }
}

fn last_failure(shared: &Shared) -> Option<String> {
    shared.connect_failure.lock().ok().and_then(|failure| failure.clone())
}

fn why_not_started(plan: &Plan, shared: &Shared, failure: &Failure) -> String {
    if signal::caught() {
        return "interrupted before the measurement began".to_owned();
    }
    if let Some(reason) = failure.first() {
        return reason;
    }
    let reason = last_failure(shared).unwrap_or_else(|| "no connection was set up".to_owned());
    let hint = if reason.contains("refused") { "; is the server running?" } else { "" };
    format!("cannot connect to {}: {reason}{hint}", plan.url.authority())
}

/// Takes in slices as they come, and says at once when a phase begins, until all threads are done.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_kept() {
        let failure = Failure::default();
        failure.note(1, "no memory");
        failure.note(0, "interrupted");
        assert_eq!(failure.first().as_deref(), Some("load thread 1 failed: no memory"));
    }

    #[test]
    fn a_panic_of_a_load_thread_is_kept_in_one_line() {
        note_panics();
        let thread = std::thread::Builder::new().name(format!("{THREAD_NAME}7"));
        let said = thread.spawn(|| panic::catch_unwind(|| panic!("a bug")).map_err(|_| PANIC.take())).map(JoinHandle::join);
        let text = format!("{said:?}");
        assert!(text.contains("run.rs") && text.contains("a bug") && !text.contains("\\n"), "{text}");
    }
}

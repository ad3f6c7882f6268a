//! Runs a plan: starts the threads, says when the window begins, gathers their slices, and makes the result of them.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
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

type Crew = Vec<JoinHandle<Result<Final>>>;

/// Runs the plan to its end, or to the first signal.
pub fn run(plan: &Plan, observer: &mut impl Observer) -> Result<RunResult> {
    observer.phase(Phase::Connect);
    let address = plan.addresses.first_that_accepts(plan.timeout)?.clone();
    let peer = Peer { address, congestion_control: plan.congestion_control.clone() };
    let plan = &declared(plan, &peer)?;
    pin(&plan.cpus)?; // this thread works while the others measure: it stays on their CPUs
    let shared = Arc::new(Shared::default());
    let engine = choose_engine(plan.engine);
    let threads = plan.threads as usize;
    let pauses = Pauses::new(plan.interval, PIECES * HISTOGRAMS * (plan.threads + 1));
    let pool = Arc::new(Pool::new(plan.load.is_open(), RECORDERS * threads, pauses));
    let (reports, gathered) = sync_channel(REPORTS * threads);
    let crew = (0..plan.threads)
        .map(|thread| start_thread(plan, peer.clone(), engine, thread, Arc::clone(&shared), reports.clone(), Arc::clone(&pool)))
        .collect::<Result<Crew>>()?;
    drop(reports);
    let encoder = Encoder::primed(); // while the threads connect: once the window is fixed, it begins within milliseconds
    let window = wait_until_ready(plan, &shared, &crew);
    let mut gather = Gather::new(plan, window.unwrap_or_default(), &pool, pauses, encoder);
    if window.is_some() {
        warn_of_missing(plan, &shared, observer);
        observe(&mut gather, &shared, &gathered, observer);
    }
    shared.stop.store(true, Ordering::Relaxed);
    let ended: Vec<_> = crew.into_iter().map(join).collect();
    let finals = ended.into_iter().collect::<Result<Vec<_>>>()?;
    if window.is_none() {
        bail!(why_not_started(plan, &shared));
    }
    for report in gathered.try_iter() {
        gather.take(report, observer);
    }
    let result = gather.finish(engine, &finals, observer);
    observer.done();
    Ok(result)
}

/// The plan with what is only known when the run begins, for the result to say.
fn declared(plan: &Plan, peer: &Peer) -> Result<Plan> {
    let mut plan = plan.clone();
    plan.config.address = endpoint::describe(&peer.address);
    plan.config.congestion_control = peer.effective_congestion_control().context("cannot create a socket")?;
    Ok(plan)
}

fn join(handle: JoinHandle<Result<Final>>) -> Result<Final> {
    handle.join().unwrap_or_else(|_| bail!("a thread of the load generator panicked"))
}

/// The best engine that is allowed here, or the one that was asked for, by its name.
fn choose_engine(choice: EngineChoice) -> &'static str {
    match choice {
        EngineChoice::Auto if Uring::available() => Uring::NAME,
        EngineChoice::IoUring => Uring::NAME,
        EngineChoice::Auto | EngineChoice::Epoll => Epoll::NAME,
    }
}

fn start_thread(
    plan: &Plan,
    peer: Peer,
    engine: &'static str,
    thread: u32,
    shared: Arc<Shared>,
    reports: SyncSender<Report>,
    pool: Arc<Pool>,
) -> Result<JoinHandle<Result<Final>>> {
    let plan = plan.clone();
    let work = move || -> Result<Final> {
        pin(plan.cpu_of(thread).as_slice())?;
        wake_precisely();
        let member = Member { plan: &plan, peer, engine, thread, shared, reports, pool };
        member.speak()
    };
    std::thread::Builder::new().name(format!("load-{thread}")).spawn(work).context("cannot start a thread")
}

/// What one thread is given.
struct Member<'a> {
    plan: &'a Plan,
    peer: Peer,
    engine: &'static str,
    thread: u32,
    shared: Arc<Shared>,
    reports: SyncSender<Report>,
    pool: Arc<Pool>,
}

impl Member<'_> {
    /// Picks the protocol: from here on everything is compiled for it.
    fn speak(self) -> Result<Final> {
        let plan = self.plan;
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
        let plan = self.plan;
        let setup = Setup { peer: self.peer, connections: plan.connections_of(self.thread) };
        let load = plan.load.clone().of_thread(self.thread, plan.threads, plan.seed);
        let mut worker = Worker::new(protocol, setup.connections, limits(plan), load, self.shared, self.reports, self.pool);
        if self.engine == Uring::NAME {
            Uring::new(setup)?.run(&mut worker)?;
        } else {
            Epoll::new(setup)?.run(&mut worker)?;
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

/// Waits until all connections are set up or have failed to, and fixes the window; `None` when there is nothing to measure.
fn wait_until_ready(plan: &Plan, shared: &Shared, crew: &Crew) -> Option<Window> {
    while shared.ready.load(Ordering::Acquire) < plan.threads {
        if signal::caught() || crew.iter().any(JoinHandle::is_finished) {
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

fn why_not_started(plan: &Plan, shared: &Shared) -> String {
    if signal::caught() {
        return "interrupted before the measurement began".to_owned();
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

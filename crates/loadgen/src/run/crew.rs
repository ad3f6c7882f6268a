//! Starts and runs the load threads, and records their failures.

use std::num::NonZeroU64;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use anyhow::{Context, Result, bail, ensure};
use rustix::thread::{CpuSet, sched_setaffinity, set_current_timer_slack};

use super::panics::{THREAD_NAME, last_panic};
use super::plan::{Plan, Speaker};
use crate::engine::{Engine, EngineChoice, Epoll, Peer, Setup, Uring};
use crate::figures::pool::Pool;
use crate::protocol::Protocol;
use crate::time::clock::now_ns;
use crate::worker::{Limits, Report, Shared, Worker};

/// The first error of a run. This error ends the run.
#[derive(Debug, Default)]
pub struct Failure(OnceLock<String>);

impl Failure {
    /// Records the failure of a thread. Later failures are ignored, because the first one stops the run.
    pub fn note(&self, thread: u32, reason: &str) {
        self.0.get_or_init(|| format!("load thread {thread} failed: {reason}"));
    }

    /// Records an error other than the failure of a thread. Like `note`, ignores all errors except the first one.
    pub fn note_reason(&self, reason: &str) {
        self.0.get_or_init(|| reason.to_owned());
    }

    pub fn first(&self) -> Option<String> {
        self.0.get().cloned()
    }
}

/// Returns the name of the engine to use. If `auto` falls back to epoll, also returns why io_uring isn't available.
pub fn choose_engine(choice: EngineChoice) -> (&'static str, Option<String>) {
    match choice {
        EngineChoice::IoUring => (Uring::NAME, None),
        EngineChoice::Epoll => (Epoll::NAME, None),
        EngineChoice::Auto => match Uring::check() {
            Ok(()) => (Uring::NAME, None),
            Err(error) => (Epoll::NAME, Some(format!("{error:#}"))),
        },
    }
}

/// The data that a load thread needs.
pub struct Member {
    pub plan: Plan,
    pub peer: Peer,
    pub engine: &'static str,
    pub thread: u32,
    pub shared: Arc<Shared>,
    pub failure: Arc<Failure>,
    pub reports: SyncSender<Report>,
    pub pool: Arc<Pool>,
}

impl Member {
    pub fn start(self) -> Result<JoinHandle<()>> {
        let name = format!("{THREAD_NAME}{}", self.thread);
        std::thread::Builder::new().name(name).spawn(move || self.work()).context("cannot start a load thread")
    }

    /// Runs the thread. Any error or panic is recorded and ends the run for all threads.
    fn work(self) {
        let (thread, shared, failure) = (self.thread, Arc::clone(&self.shared), Arc::clone(&self.failure));
        let worked = panic::catch_unwind(AssertUnwindSafe(|| {
            pin(self.plan.cpu_of(thread).as_slice())?;
            wake_precisely();
            let plan = self.plan.clone();
            plan.speak(self.thread, self)
        }));
        let reason = match worked {
            Ok(Ok(())) => return,
            Ok(Err(error)) => format!("{error:#}"),
            Err(_) => last_panic(),
        };
        failure.note(thread, &reason);
        shared.stop();
    }
}

impl Speaker for Member {
    type Output = Result<()>;

    fn speak<P: Protocol>(self, protocol: P) -> Result<()> {
        let Self { plan, peer, engine, thread, shared, failure, reports, pool } = self;
        let alarm = shared.in_slices.then(|| shared.window.new_alarm()).transpose().context("cannot create an eventfd")?;
        let setup = Setup { peer, connections: plan.connections_of(thread), alarm };
        let (place, places) = plan.place_of(thread);
        let load = plan.load.clone().of_thread(place, places, plan.seed);
        let mut worker = Worker::new(protocol, setup.connections, limits(&plan), load, Arc::clone(&shared), reports, pool);
        worker.thread = thread;
        let driven = if engine == Uring::NAME {
            Uring::new(setup).and_then(|engine| engine.run(&mut worker))
        } else {
            Epoll::new(setup).and_then(|engine| engine.run(&mut worker))
        };
        if let Err(error) = driven {
            failure.note(thread, &format!("{error:#}"));
            shared.stop();
            worker.give_up(now_ns());
        }
        ensure!(worker.is_done(), "the engine stopped before the end of the run");
        Ok(())
    }
}

fn limits(plan: &Plan) -> Limits {
    Limits {
        depth: plan.pipeline,
        event_streams: plan.sse,
        requests_per_connection: plan.requests_per_connection.unwrap_or(u64::MAX),
        timeout_ns: plan.timeout.as_nanos() as u64,
        ends_with_requests: plan.requests_total.is_some(),
        sample_every_ns: plan.sample_every.map_or(u64::MAX, |every| every.as_nanos() as u64),
    }
}

/// Pins the calling thread to these CPUs. Does nothing if the list is empty.
pub fn pin(cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu >= CpuSet::MAX_CPU {
            bail!("this machine has no CPU {cpu}");
        }
        set.set(*cpu);
    }
    let names: Vec<_> = cpus.iter().map(usize::to_string).collect();
    sched_setaffinity(None, &set).with_context(|| format!("cannot pin a thread to CPU {}", names.join(",")))
}

/// Sets the timer slack to 1 ns. By default, the kernel may delay timers by 50 µs, which is too imprecise for an open loop.
fn wake_precisely() {
    // If this isn't permitted, timers fire late, and the result shows the delay as schedule lag.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_failure_is_kept() {
        let failure = Failure::default();
        failure.note(1, "no memory");
        failure.note(0, "interrupted");
        assert_eq!(failure.first().as_deref(), Some("load thread 1 failed: no memory"));
    }
}

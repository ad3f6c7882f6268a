//! A run in slices: short windows that start on command, with no load in between.
//!
//! The coordinator merges all reports of a slice after its drain, because merging during the window would take CPU time from the load
//! threads. Between the event that reports a slice and the next command, the coordinator does nothing, because other targets may be
//! measured during this time.

use std::sync::mpsc::{Receiver, RecvTimeoutError};

use anyhow::Result;

use super::commands::{Command, Commands};
use super::crew::Failure;
use super::gather::Percentiles;
use super::measured::{InAll, Measured, offered, rate};
use super::observer::{Observer, SliceSummary};
use super::plan::Plan;
use super::{LOOK, signal};
use crate::figures::encoding::Encoder;
use crate::figures::pool::Pool;
use crate::figures::recorder::Recorder;
use crate::figures::result::Interval;
use crate::time::clock::{now_ns, seconds};
use crate::time::coordinator_pauses::Pauses;
use crate::time::window::{Phase, Window};
use crate::worker::{Final, Report, Shared};

/// Time between a command and the start of its load. Sleeping threads wake up within this time.
const DELAY_NS: u64 = 200_000;
/// Maximum number of reports that a thread sends about a slice: one each for connecting, waiting, lead-in, window and drain.
const REPORTS: usize = 5;
/// Number of recorders that the coordinator uses: three for the slice that is being merged, and two for the previous slice.
const RECORDERS: usize = 5;
/// The coordinator needs no pauses, because it merges slices only while there is no load.
const NO_PAUSES: Pauses = Pauses::NONE;

/// Returns the number of recorders that a run needs.
pub fn recorders(threads: usize) -> usize {
    (REPORTS + 1) * threads + RECORDERS
}

/// A run that generates load on command.
pub struct Slices<'a> {
    pub plan: &'a Plan,
    pub shared: &'a Shared,
    pub failure: &'a Failure,
    pub reports: &'a Receiver<Report>,
}

impl Slices<'_> {
    /// Carries out commands until `end`, an error or an interruption. Returns `None` if no slice was kept.
    pub fn run(&self, commands: &Commands, mut tally: Tally<'_>, observer: &mut dyn Observer) -> Option<Measured> {
        loop {
            match self.carry_out(commands.next(), &mut tally, observer) {
                Ok(()) => {}
                Err(Stop::End) => break,
                Err(Stop::Mistake(text)) => {
                    self.failure.note_reason(&text);
                    break;
                }
            }
        }
        observer.done();
        tally.finish()
    }

    fn carry_out(&self, command: Option<Result<Command>>, tally: &mut Tally<'_>, observer: &mut dyn Observer) -> Result<(), Stop> {
        match command.ok_or(Stop::End)?.map_err(|error| Stop::Mistake(error.to_string()))? {
            Command::Drop => return tally.drop_last(),
            Command::End => return Err(Stop::End),
            Command::Warmup { length_ns, start_ns } => {
                tally.keep_last();
                let (window, reports) = self.load(start_ns, 0, length_ns)?;
                observer.slice(&tally.take_warmup(window, reports));
            }
            Command::Slice { lead_in_ns, window_ns, start_ns } => {
                tally.keep_last();
                let (window, reports) = self.load(start_ns, lead_in_ns, window_ns)?;
                observer.slice(&tally.take_slice(window, reports));
            }
        }
        Ok(())
    }

    /// Generates load for a lead-in and a window, and waits for the end of the drain. Returns the window and the threads' reports about it.
    ///
    /// The load starts at `start_ns` or, if that is `None` or has passed, as soon as possible.
    fn load(&self, start_ns: Option<u64>, lead_in_ns: u64, window_ns: u64) -> Result<(Window, Vec<Report>), Stop> {
        let warmup_start_ns = (now_ns() + DELAY_NS).max(start_ns.unwrap_or(0));
        let measure_start_ns = warmup_start_ns + lead_in_ns;
        let end_ns = measure_start_ns + window_ns;
        let window = Window { warmup_start_ns, measure_start_ns, end_ns, interval_ns: lead_in_ns.max(window_ns) };
        self.shared.window.set(window).map_err(|error| Stop::Mistake(format!("cannot wake up the load threads: {error}")))?;
        let mut reports = Vec::with_capacity(REPORTS * self.plan.threads as usize);
        let mut left = self.plan.threads;
        loop {
            match self.reports.recv_timeout(50 * LOOK) {
                Ok(report) => {
                    left -= u32::from(report.last.is_some());
                    reports.push(report);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Stop::End),
            }
            // If a thread fails, it stops all other threads.
            if self.shared.is_stopping() || (left > 0 && signal::caught()) {
                return Err(Stop::End);
            }
            if left == 0 {
                return Ok((window, reports));
            }
        }
    }
}

/// The reason why a run ends.
#[derive(Debug)]
enum Stop {
    /// The command was `end`, a signal arrived, or a thread failed.
    End,
    /// A command is invalid or cannot be carried out. The string is the error message.
    Mistake(String),
}

/// The measurements of all slices that were kept.
pub struct Tally<'a> {
    plan: &'a Plan,
    pool: &'a Pool,
    kept: Measured,
    /// The last slice. The next command determines whether it is kept or dropped.
    last: Option<Slice>,
    /// Number of slices so far, including dropped ones.
    slices: u64,
    encoder: Encoder,
}

/// The measurements of one slice.
struct Slice {
    window: Window,
    lead_in: Recorder,
    /// The measurements of the window, including times and failures that were recorded during the drain.
    recorder: Recorder,
    late_ok: u64,
    finals: Vec<Final>,
    interval: Interval,
}

impl<'a> Tally<'a> {
    pub fn new(plan: &'a Plan, pool: &'a Pool, encoder: Encoder) -> Self {
        let open_loop = plan.load.is_open();
        let kept = Measured {
            start_ns: 0,
            duration_ns: 0,
            total: Recorder::new(open_loop, plan.requests.parts().len()),
            before: Recorder::new(open_loop, 0),
            late_ok: 0,
            in_all: InAll::default(),
            finals: finals(plan),
            offered: open_loop.then_some(0.0),
            intervals: Vec::new(),
        };
        Self { plan, pool, kept, last: None, slices: 0, encoder }
    }

    /// Merges the reports about a warm-up. The result includes only the warm-up's connections and its number of correct responses.
    fn take_warmup(&mut self, window: Window, reports: Vec<Report>) -> SliceSummary {
        let (slice, summary) = self.merge(window, reports);
        self.kept.before.merge(&slice.lead_in, NO_PAUSES);
        self.kept.before.merge(&slice.recorder, NO_PAUSES);
        self.kept.before.ok += slice.late_ok;
        self.pool.give_back(slice.lead_in);
        self.pool.give_back(slice.recorder);
        summary
    }

    fn take_slice(&mut self, window: Window, reports: Vec<Report>) -> SliceSummary {
        let (slice, summary) = self.merge(window, reports);
        self.last = Some(slice);
        self.slices += 1;
        SliceSummary { index: Some(self.slices - 1), ..summary }
    }

    /// Merges all threads' reports about a window.
    fn merge(&mut self, window: Window, reports: Vec<Report>) -> (Slice, SliceSummary) {
        if self.kept.start_ns == 0 {
            self.kept.start_ns = window.warmup_start_ns;
        }
        let [mut lead_in, mut recorder, mut drain] = [(); 3].map(|()| self.pool.take());
        let mut unfinished = Vec::new();
        let mut finals = finals(self.plan);
        let mut end_ns = window.end_ns;
        for report in reports {
            self.kept.in_all.add(&report.recorder);
            if report.span.phase == Phase::Wait {
                self.kept.total.idle_closed += report.recorder.idle_closed;
            }
            let whole = match report.span.phase {
                Phase::Connect | Phase::Wait => &mut self.kept.before,
                Phase::Warmup => &mut lead_in,
                Phase::Measure => &mut recorder,
                Phase::Drain => &mut drain,
            };
            whole.merge(&report.recorder, NO_PAUSES);
            self.pool.give_back(report.recorder);
            if let Some((last, ages)) = report.last {
                unfinished.extend(ages);
                finals[report.thread as usize] = last;
                end_ns = end_ns.max(report.span.end_ns);
            }
        }
        let late_ok = drain.ok;
        recorder.add_drain(&drain);
        let beyond = recorder.p99();
        for ages in &unfinished {
            recorder.add_unfinished(ages, beyond);
        }
        self.pool.give_back(drain);
        let interval = self.interval(&window, &recorder);
        let times = recorder.latency();
        let duration_s = seconds(window.end_ns - window.measure_start_ns);
        let summary = SliceSummary {
            index: None,
            start_ns: window.measure_start_ns,
            end_ns: window.end_ns,
            completed: recorder.ok,
            errors: recorder.errors.total(),
            throughput_rps: rate(recorder.ok + recorder.early_ok, duration_s),
            p50_us: interval.p50_us,
            p99_us: interval.p99_us,
            max_us: (!times.is_empty()).then(|| times.max() as f64 / 1e3),
            drain_us: (end_ns - window.end_ns) as f64 / 1e3,
            reopened: lead_in.connect.len() + recorder.connect.len(),
            outside: lead_in.ok + recorder.early_ok + late_ok,
        };
        (Slice { window, lead_in, recorder, late_ok, finals, interval }, summary)
    }

    fn interval(&mut self, window: &Window, recorder: &Recorder) -> Interval {
        let duration_s = seconds(window.end_ns - window.measure_start_ns);
        let times = recorder.latency();
        let Percentiles { p50_us, p99_us, p99_9_us } = Percentiles::of(times);
        let mut histogram = String::new();
        self.encoder.encode(times, &mut histogram);
        let offered = self.offered(window).map(|offered| offered / f64::from(self.plan.part.count()));
        Interval {
            start_s: 0.0,
            duration_s,
            completed: recorder.completed + recorder.early_ok,
            errors: recorder.errors.total(),
            events: 0,
            offered_rps: offered.map(|offered| offered / duration_s),
            p50_us,
            p99_us,
            p99_9_us,
            bytes_received: recorder.bytes_received,
            histogram,
        }
    }

    /// Returns the number of requests that are due within a window, summed over all parts of the load.
    fn offered(&self, window: &Window) -> Option<f64> {
        let [from_s, to_s] = [window.measure_start_ns, window.end_ns].map(|ns| seconds(ns - window.warmup_start_ns));
        offered(self.plan, from_s, to_s)
    }

    /// Discards the last slice.
    fn drop_last(&mut self) -> Result<(), Stop> {
        let Some(slice) = self.last.take() else {
            return Err(Stop::Mistake("stdin contains `drop`, but there is no slice to drop; hint: write it after a slice".to_owned()));
        };
        self.pool.give_back(slice.lead_in);
        self.pool.give_back(slice.recorder);
        Ok(())
    }

    /// Adds the last slice to the kept slices, unless it has already been added or dropped.
    fn keep_last(&mut self) {
        let Some(slice) = self.last.take() else { return };
        let offered = self.offered(&slice.window);
        let kept = &mut self.kept;
        kept.intervals.push(Interval { start_s: seconds(kept.duration_ns), ..slice.interval });
        kept.duration_ns += slice.window.end_ns - slice.window.measure_start_ns;
        kept.total.merge(&slice.recorder, NO_PAUSES);
        kept.before.merge(&slice.lead_in, NO_PAUSES);
        kept.late_ok += slice.late_ok;
        kept.offered = kept.offered.zip(offered).map(|(sum, one)| sum + one);
        for (sum, one) in kept.finals.iter_mut().zip(slice.finals) {
            sum.add(one);
        }
        self.pool.give_back(slice.lead_in);
        self.pool.give_back(slice.recorder);
    }

    fn finish(mut self) -> Option<Measured> {
        self.keep_last();
        (!self.kept.intervals.is_empty()).then_some(self.kept)
    }
}

fn finals(plan: &Plan) -> Vec<Final> {
    (0..plan.threads).map(|_| Final::default()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::endpoint::url::Url;
    use crate::engine::EngineChoice;
    use crate::figures::encoding::decode;
    use crate::figures::errors::ErrorKind;
    use crate::figures::histogram::new_histogram;
    use crate::figures::outcome::Outcome;
    use crate::figures::recorder::Sent;
    use crate::figures::result::Config;
    use crate::request::Requests;
    use crate::time::part::Part;
    use crate::time::window::Span;
    use crate::worker::Load;

    const THREADS: u32 = 2;
    const MS: u64 = 1_000_000;

    fn plan() -> Plan {
        let url = Url::parse("http://127.0.0.1:1/").expect("a valid URL");
        Plan {
            config: Config::default(),
            addresses: url.resolve().expect("an address"),
            url,
            congestion_control: None,
            source_addresses: Vec::new(),
            requests: Requests::new(Vec::new(), &[], 1),
            tls: None,
            proxied: false,
            http2: false,
            sse: false,
            connections: THREADS,
            threads: THREADS,
            cpus: Vec::new(),
            engine: EngineChoice::Auto,
            duration: Duration::ZERO,
            requests_total: None,
            warmup: Duration::ZERO,
            timeout: Duration::from_secs(1),
            interval: Duration::ZERO,
            sample_every: None,
            pipeline: 1,
            requests_per_connection: None,
            load: Load::Closed { think_ns: 0 },
            seed: 0,
            part: Part::WHOLE,
            start_on_stdin: false,
            slices_on_stdin: true,
        }
    }

    /// The role of a slice in the test.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Fate {
        Warmup,
        Keep,
        Drop,
    }

    /// One request: its thread, the time at which it is sent (in ms since the start of the lead-in), its service time (in ms), and whether
    /// its response is correct.
    type Request = (u32, u64, u64, bool);

    fn slice() -> impl Strategy<Value = (Fate, Vec<Request>)> {
        let fate = prop_oneof![Just(Fate::Warmup), Just(Fate::Keep), Just(Fate::Keep), Just(Fate::Drop)];
        let request = (0..THREADS, 0..30_u64, 1..40_u64, prop::bool::weighted(0.9));
        (fate, prop::collection::vec(request, 0..40))
    }

    /// Returns the reports of threads that sent these requests in a lead-in of 10 ms, a window of 20 ms and a drain.
    fn reports(pool: &Pool, window: &Window, requests: &[Request]) -> Vec<Report> {
        let mut reports = Vec::new();
        for thread in 0..THREADS {
            let Window { warmup_start_ns, measure_start_ns, end_ns, .. } = *window;
            let spans = [
                Span { phase: Phase::Warmup, start_ns: warmup_start_ns, end_ns: measure_start_ns },
                Span { phase: Phase::Measure, start_ns: measure_start_ns, end_ns },
                Span { phase: Phase::Drain, start_ns: end_ns, end_ns: end_ns + 60 * MS },
            ];
            for span in spans {
                let mut recorder = pool.take();
                recorder.due_from_ns = if span.phase == Phase::Measure { measure_start_ns } else { 0 };
                let within = |ns: u64| (span.start_ns..span.end_ns).contains(&ns);
                for (_, at_ms, took_ms, is_correct) in requests.iter().filter(|request| request.0 == thread) {
                    let sent_ns = warmup_start_ns + at_ms * MS;
                    let sent = Sent::at(sent_ns, sent_ns);
                    if within(sent_ns) {
                        recorder.request_sent(sent, sent_ns);
                    }
                    let done_ns = sent_ns + took_ms * MS;
                    if within(done_ns) && *is_correct {
                        recorder.requests_ended(sent, done_ns, Outcome::Ok, 1);
                    } else if within(done_ns) {
                        recorder.request_failed(sent, ErrorKind::Reset);
                    }
                }
                let last = (span.phase == Phase::Drain).then(|| (Final { backlog: 1, ..Final::default() }, None));
                reports.push(Report { thread, span, recorder, last });
            }
        }
        reports
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_total_is_the_sum_of_the_kept_slices(slices in prop::collection::vec(slice(), 0..8)) {
            let plan = plan();
            let pool = Pool::new(false, 0, 0, NO_PAUSES);
            let mut tally = Tally::new(&plan, &pool, Encoder::default());
            let (mut times, mut kept, mut ok, mut errors, mut outside, mut in_all) = (new_histogram(), 0_u64, 0, 0, 0, 0);
            for (number, (fate, requests)) in (1_u64..).zip(&slices) {
                // Each slice starts one second after the previous slice.
                let warmup_start_ns = number * 1000 * MS;
                let (measure_start_ns, end_ns) = (warmup_start_ns + 10 * MS, warmup_start_ns + 30 * MS);
                let window = Window { warmup_start_ns, measure_start_ns, end_ns, interval_ns: 20 * MS };
                let told = reports(&pool, &window, requests);
                tally.keep_last();
                let summary = if *fate == Fate::Warmup { tally.take_warmup(window, told) } else { tally.take_slice(window, told) };
                prop_assert_eq!(summary.index.is_none(), *fate == Fate::Warmup);
                let of_window = requests.iter().filter(|request| request.3 && (10..30).contains(&(request.1 + request.2)));
                prop_assert_eq!(summary.completed, of_window.count() as u64);
                let correct = requests.iter().filter(|request| request.3).count() as u64;
                prop_assert_eq!(summary.completed + summary.outside, correct);
                in_all += correct;
                match fate {
                    Fate::Warmup => outside += summary.completed + summary.outside,
                    Fate::Keep => {
                        (kept, ok, errors, outside) = (kept + 1, ok + summary.completed, errors + summary.errors, outside + summary.outside);
                        let has_time = |request: &&Request| request.1 >= 10 || request.1 + request.2 >= 30;
                        for request in requests.iter().filter(|request| request.3).filter(has_time) {
                            times.saturating_record(request.2 * MS);
                        }
                    }
                    Fate::Drop => tally.drop_last().expect("there is a slice to drop"),
                }
                prop_assert!(tally.last.is_some() == (*fate == Fate::Keep));
            }
            let Some(measured) = tally.finish() else {
                prop_assert_eq!(kept, 0);
                return Ok(());
            };
            prop_assert_eq!((measured.total.ok, measured.total.errors.total()), (ok, errors));
            prop_assert_eq!(measured.before.ok + measured.late_ok, outside);
            prop_assert_eq!(measured.in_all.ok, in_all, "the responses of dropped slices are included");
            prop_assert_eq!(measured.duration_ns, kept * 20 * MS);
            prop_assert_eq!(measured.finals.iter().map(|last| last.backlog).sum::<u64>(), kept * u64::from(THREADS));
            prop_assert_eq!(&measured.total.service, &times);
            let mut merged = new_histogram();
            for interval in &measured.intervals {
                merged.add(decode(&interval.histogram).expect("a histogram")).expect("the bounds are equal");
            }
            prop_assert_eq!(&merged, &times);
            prop_assert_eq!(measured.intervals.len() as u64, kept);
        }
    }
}

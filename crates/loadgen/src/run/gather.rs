//! Merges the spans of all threads into intervals, totals, progress reports and the final result.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::measured::{InAll, Measured, offered, rate};
use super::observer::{Observer, Progress};
use super::plan::Plan;
use crate::figures::encoding::Encoder;
use crate::figures::errors::ErrorKind;
use crate::figures::percentiles::percentile_us;
use crate::figures::pool::Pool;
use crate::figures::recorder::Recorder;
use crate::figures::result::{Interval, RunResult, TlsHandshakes};
use crate::time::clock::{now_ns, seconds};
use crate::time::coordinator_pauses::Pauses;
use crate::time::window::{Phase, Span, Window};
use crate::worker::{Final, Report};

/// Number of bytes reserved for the encoded histogram of an interval. Most histograms need less.
const INTERVAL_TEXT_BYTES: usize = 4096;
/// Maximum number of intervals for which memory is reserved before the run, 4 MB in total. Runs with more intervals allocate memory for the
/// rest during the run.
const INTERVALS_RESIDENT: usize = 1000;

pub struct Gather<'a> {
    plan: &'a Plan,
    window: Window,
    announced: Option<Phase>,
    announced_end: bool,
    /// Spans that only some threads have reported so far, by start time. Each entry contains the number of threads that have reported the
    /// span, and their merged measurements.
    pending: BTreeMap<u64, (Span, u32, Recorder)>,
    /// Start of the last span of each thread that is done. If the run ends after a number of requests, the threads may end in different
    /// spans.
    done: Vec<u64>,
    pool: &'a Pool,
    pauses: Pauses,
    total: Recorder,
    /// Counts and times recorded while connecting and warming up.
    before: Recorder,
    /// Outcomes of the requests that were in flight at the end of the window.
    late: Recorder,
    in_all: InAll,
    /// Ages of the requests that were unfinished at the end of the run.
    unfinished: Recorder,
    /// The last complete measured span. It is held back because the unfinished requests must be added to the last span of the run.
    held: Option<(Span, Recorder, Percentiles)>,
    intervals: Vec<Interval>,
    encoder: Encoder,
    /// Preallocated strings for encoded histograms, filled with spaces so that the kernel maps the memory before the run begins.
    texts: Vec<String>,
    end_ns: u64,
    /// The results of each thread that its recorders don't contain.
    finals: Vec<Final>,
    /// Numbers of completed and failed requests in the current phase, for progress reports.
    so_far: (u64, u64),
}

/// The percentiles of a span, for progress reports and intervals. A percentile is `None` if there are too few samples.
#[derive(Clone, Copy)]
pub struct Percentiles {
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub p99_9_us: Option<f64>,
}

impl Percentiles {
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let [p50_us, p99_us, p99_9_us] = [50.0, 99.0, 99.9].map(|percentile| percentile_us(histogram, percentile));
        Self { p50_us, p99_us, p99_9_us }
    }
}

impl<'a> Gather<'a> {
    pub fn new(plan: &'a Plan, window: Window, pool: &'a Pool, pauses: Pauses, encoder: Encoder) -> Self {
        let open_loop = plan.load.is_open();
        Self {
            plan,
            window,
            announced: None,
            announced_end: false,
            pending: BTreeMap::new(),
            done: Vec::with_capacity(plan.threads as usize),
            pool,
            pauses,
            total: Recorder::new(open_loop, plan.requests.parts().len()),
            before: Recorder::new(open_loop, 0),
            late: Recorder::new(open_loop, plan.requests.parts().len()),
            in_all: InAll::default(),
            unfinished: Recorder::new(open_loop, 0),
            held: None,
            intervals: resident(window.intervals().min(INTERVALS_RESIDENT)),
            encoder,
            texts: (0..window.intervals().min(INTERVALS_RESIDENT)).map(|_| " ".repeat(INTERVAL_TEXT_BYTES)).collect(),
            end_ns: window.measure_start_ns,
            finals: (0..plan.threads).map(|_| Final::default()).collect(),
            so_far: (0, 0),
        }
    }

    /// Announces the current phase to the observer. Returns the time until the next phase, in nanoseconds, or `None` if there is no next
    /// phase.
    pub fn announce_phases(&mut self, now_ns: u64, observer: &mut dyn Observer) -> Option<u64> {
        let Window { warmup_start_ns, measure_start_ns, .. } = self.window;
        let (phase, next_ns) = match now_ns {
            now if now < warmup_start_ns => return Some(warmup_start_ns - now),
            now if now < measure_start_ns => (Phase::Warmup, Some(measure_start_ns - now)),
            _ => (Phase::Measure, None),
        };
        if self.announced != Some(phase) {
            self.announced = Some(phase);
            observer.phase(phase);
        }
        next_ns
    }

    /// Announces that the window is over, unless this has already been announced.
    fn announce_end(&mut self, observer: &mut dyn Observer) {
        if !std::mem::replace(&mut self.announced_end, true) {
            observer.done();
        }
    }

    /// Takes one thread's report about a span. Completes the span once all threads have reported it.
    pub fn take(&mut self, report: Report, observer: &mut dyn Observer) {
        self.announce_phases(now_ns(), observer); // before merging the last span of a phase, which takes a while
        self.in_all.add(&report.recorder);
        if let Some((last, ages)) = report.last {
            if let Some(ages) = ages {
                self.unfinished.merge(&ages, self.pauses);
            }
            self.finals[report.thread as usize] = last;
            self.done.push(report.span.start_ns);
        }
        let aside = match report.span.phase {
            Phase::Connect | Phase::Wait => Some(&mut self.before),
            Phase::Drain => Some(&mut self.late),
            Phase::Warmup | Phase::Measure => None,
        };
        if let Some(aside) = aside {
            aside.merge(&report.recorder, self.pauses);
            self.pool.give_back(report.recorder);
            return;
        }
        let start_ns = report.span.start_ns;
        match self.pending.get_mut(&start_ns) {
            Some((span, count, recorder)) => {
                recorder.merge(&report.recorder, self.pauses);
                span.end_ns = span.end_ns.max(report.span.end_ns);
                *count += 1;
                self.pool.give_back(report.recorder);
            }
            None => {
                self.pending.insert(start_ns, (report.span, 1, report.recorder));
            }
        }
        while let Some(start_ns) = self.first_complete() {
            self.complete(start_ns, observer);
        }
    }

    /// Returns the start of the first pending span if all threads that were running at its start have reported it.
    fn first_complete(&self) -> Option<u64> {
        let (start_ns, (_, count, _)) = self.pending.first_key_value()?;
        let gone = self.done.iter().filter(|last_ns| *last_ns < start_ns).count();
        (*count as usize + gone >= self.plan.threads as usize).then_some(*start_ns)
    }

    fn complete(&mut self, start_ns: u64, observer: &mut dyn Observer) {
        let Some((span, _, mut recorder)) = self.pending.remove(&start_ns) else { return };
        let phase_start_ns = if span.phase == Phase::Warmup { self.window.warmup_start_ns } else { self.window.measure_start_ns };
        if span.start_ns == phase_start_ns {
            self.so_far = (0, 0);
        }
        self.so_far.1 += recorder.errors.total();
        let duration_s = seconds(span.end_ns - span.start_ns);
        let percentiles = Percentiles::of(interval_times(self.plan, &mut recorder));
        let (completed, correct) = match &recorder.events {
            Some(events) => (events.events, events.events),
            None => (recorder.completed, recorder.ok),
        };
        self.so_far.0 += completed;
        // The last span of the warm-up arrives after the start of the window has been announced, so its progress isn't reported.
        if self.announced == Some(span.phase) {
            observer.progress(&Progress {
                phase: span.phase,
                elapsed_s: seconds(span.end_ns - phase_start_ns),
                completed: self.so_far.0,
                errors: self.so_far.1,
                throughput_rps: rate(correct, duration_s),
                p50_us: percentiles.p50_us,
                p99_us: percentiles.p99_us,
            });
        }
        self.pauses.pause();
        if span.end_ns >= self.window.end_ns {
            self.announce_end(observer);
        }
        if span.phase == Phase::Measure {
            self.total.merge(&recorder, self.pauses);
            if let Some((span, recorder, percentiles)) = self.held.replace((span, recorder, percentiles)) {
                self.keep(span, recorder, percentiles);
            }
        } else {
            self.before.merge(&recorder, self.pauses);
            self.pool.give_back(recorder);
        }
    }

    /// Adds a measured span to the intervals of the result.
    fn keep(&mut self, span: Span, mut recorder: Recorder, percentiles: Percentiles) {
        let duration_s = seconds(span.end_ns - span.start_ns);
        let start_s = seconds(span.start_ns - self.window.measure_start_ns);
        let offered = self.offered(start_s, start_s + duration_s).map(|offered| offered / f64::from(self.plan.part.count()));
        let mut histogram = self.texts.pop().unwrap_or_default();
        histogram.clear();
        self.encoder.encode(interval_times(self.plan, &mut recorder), &mut histogram);
        self.intervals.push(Interval {
            start_s,
            duration_s,
            completed: recorder.completed,
            errors: recorder.errors.total(),
            events: recorder.events.as_ref().map_or(0, |events| events.events),
            offered_rps: offered.map(|offered| offered / duration_s),
            p50_us: percentiles.p50_us,
            p99_us: percentiles.p99_us,
            p99_9_us: percentiles.p99_9_us,
            bytes_received: recorder.bytes_received,
            histogram,
        });
        self.end_ns = span.end_ns;
        self.pauses.pause();
        self.pool.give_back(recorder);
    }

    /// Adds the late and the unfinished requests to the totals and to the last span. Then adds this span to the intervals of the result.
    fn keep_last(&mut self) {
        let beyond = self.total.p99();
        self.total.add_late(&self.late);
        // If no event stream has ended, the ages of the open streams say nothing about how long streams take.
        let adds_ages = !self.plan.sse || !self.total.latency().is_empty();
        if adds_ages {
            self.total.add_unfinished(&self.unfinished, beyond);
        }
        if self.plan.sse {
            self.total.events().add_unfinished(self.unfinished.events.as_deref());
        }
        if let Some((span, mut recorder, _)) = self.held.take() {
            recorder.add_late(&self.late);
            if adds_ages {
                recorder.add_unfinished(&self.unfinished, beyond);
            }
            let percentiles = Percentiles::of(interval_times(self.plan, &mut recorder));
            self.keep(span, recorder, percentiles);
        }
    }

    /// Returns the number of requests that are due between two times of the measured window, summed over all parts of the load.
    fn offered(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let warmup_s = self.plan.warmup.as_secs_f64();
        offered(self.plan, warmup_s + from_s, warmup_s + to_s)
    }

    /// Produces the result. If some threads stopped early, the remaining spans contain only the data of the other threads.
    pub fn finish(mut self, engine: &'static str, observer: &mut dyn Observer) -> RunResult {
        while let Some(start_ns) = self.pending.keys().next().copied() {
            self.complete(start_ns, observer);
        }
        self.keep_last();
        self.announce_end(observer);
        self.before.tls_handshakes = TlsHandshakes::sum(self.before.tls_handshakes, self.late.tls_handshakes);
        let duration_ns = self.end_ns - self.window.measure_start_ns;
        let offered = match self.plan.requests_total {
            None => self.offered(0.0, seconds(duration_ns)),
            // A schedule with a number of requests has no integral to compare with. Requests that are sent again were due only once.
            Some(_) if self.plan.load.is_open() => {
                let unsent: u64 = self.finals.iter().map(|last| last.unsent).sum();
                let due = self.total.sent - self.total.unprocessed + self.total.errors.get(ErrorKind::NotSent) + unsent;
                Some(due as f64)
            }
            Some(_) => None,
        };
        let measured = Measured {
            start_ns: self.window.warmup_start_ns,
            duration_ns,
            offered,
            total: self.total,
            before: self.before,
            late_ok: self.late.ok,
            in_all: self.in_all,
            finals: self.finals,
            intervals: self.intervals,
        };
        measured.result(self.plan, engine)
    }
}

/// Returns the times that describe an interval: the times between events if responses are event streams, the latencies otherwise.
fn interval_times<'a>(plan: &Plan, recorder: &'a mut Recorder) -> &'a Histogram<u64> {
    if plan.sse { recorder.events().between() } else { recorder.latency() }
}

/// Creates an empty vector whose memory the kernel has already mapped.
fn resident<T: Clone + Default>(capacity: usize) -> Vec<T> {
    let mut list = vec![T::default(); capacity];
    list.clear();
    list
}

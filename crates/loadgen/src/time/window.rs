//! The phases of a run, such as the warm-up and the measured window, and the spans into which phases are divided. All threads begin and end
//! spans at the same times.

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Connections are being set up. This phase has no fixed length.
    Connect,
    Warmup,
    Measure,
    /// The window is over, but some of its requests still have no response. This phase exists in open loops and after each slice, and isn't
    /// part of the window.
    Drain,
    /// Connections are set up, and the thread waits for the next slice.
    Wait,
}

/// The start and end times of the phases, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub warmup_start_ns: u64,
    pub measure_start_ns: u64,
    pub end_ns: u64,
    pub interval_ns: u64,
}

/// One interval of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub phase: Phase,
    pub start_ns: u64,
    pub end_ns: u64,
}

impl Window {
    /// Returns the number of intervals in the measured window.
    pub fn intervals(&self) -> usize {
        (self.end_ns - self.measure_start_ns).div_ceil(self.interval_ns.max(1)) as usize
    }

    pub fn first(&self) -> Span {
        if self.measure_start_ns > self.warmup_start_ns {
            self.span(Phase::Warmup, self.warmup_start_ns)
        } else {
            self.span(Phase::Measure, self.measure_start_ns)
        }
    }

    /// Returns the span that follows `span`, or `None` at the end of the window.
    pub fn next(&self, span: &Span) -> Option<Span> {
        match span.phase {
            Phase::Connect => Some(self.first()),
            Phase::Drain | Phase::Wait => None,
            _ if span.end_ns >= self.end_ns => None,
            Phase::Warmup if span.end_ns >= self.measure_start_ns => Some(self.span(Phase::Measure, self.measure_start_ns)),
            phase => Some(self.span(phase, span.end_ns)),
        }
    }

    fn span(&self, phase: Phase, start_ns: u64) -> Span {
        let phase_end_ns = if phase == Phase::Warmup { self.measure_start_ns } else { self.end_ns };
        Span { phase, start_ns, end_ns: (start_ns + self.interval_ns).min(phase_end_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cover_warm_up_and_window_without_gaps_or_overlaps() {
        let window = Window { warmup_start_ns: 100, measure_start_ns: 350, end_ns: 1000, interval_ns: 200 };
        let mut spans = vec![window.first()];
        while let Some(next) = window.next(&spans[spans.len() - 1]) {
            spans.push(next);
        }
        let ends: Vec<_> = spans.iter().map(|span| (span.phase, span.start_ns, span.end_ns)).collect();
        assert_eq!(window.intervals(), 4);
        assert_eq!(
            ends,
            [
                (Phase::Warmup, 100, 300),
                (Phase::Warmup, 300, 350),
                (Phase::Measure, 350, 550),
                (Phase::Measure, 550, 750),
                (Phase::Measure, 750, 950),
                (Phase::Measure, 950, 1000),
            ]
        );
    }

    #[test]
    fn without_warm_up_the_first_span_is_measured() {
        let window = Window { warmup_start_ns: 5, measure_start_ns: 5, end_ns: 7, interval_ns: 10 };
        assert_eq!(window.first(), Span { phase: Phase::Measure, start_ns: 5, end_ns: 7 });
        assert_eq!(window.next(&window.first()), None);
    }
}

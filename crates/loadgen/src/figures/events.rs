//! Events of event streams (`text/event-stream`): their times, and the events that were lost.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

use super::distribution::Distribution;
use super::histogram::{add, add_beyond, new_histogram, p99_ns};
use crate::time::coordinator_pauses::Pauses;

/// Number of histograms in an `EventRecorder`.
pub const EVENT_HISTOGRAMS: u32 = 3;

/// The value of an `id` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventId {
    Number(u64),
    /// Any other text, or a number with more than 19 digits.
    Text,
}

/// The lines of an event stream up to a blank line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Whether the block has a `data` field. Only then is it an event.
    pub is_event: bool,
    /// The last `id` field; `None` if the block has none.
    pub id: Option<EventId>,
}

/// The progress of one event stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventStream {
    /// Actual send time of the stream's request, which identifies the stream among those of a slot; 0 before the first stream.
    sent_ns: u64,
    /// Time of the last event; 0 before the first one.
    last_event_ns: u64,
    /// Time from the intended send of the request to the first event.
    first_ns: u64,
    last_id: Option<u64>,
    /// Whether an id wasn't a number, or wasn't higher than the one before it.
    is_unordered: bool,
    /// Number of events since the start of the window. The numbers below cover the same time.
    events: u64,
    /// Number of ids that followed another id.
    steps: u64,
    /// Number of ids that were one higher than the one before.
    single_steps: u64,
    /// Number of ids that were left out.
    missing: u64,
}

impl EventStream {
    /// Returns whether an event has arrived in response to the request that was sent at this time.
    pub fn has_begun(&self, sent_ns: u64) -> bool {
        self.sent_ns == sent_ns && self.last_event_ns != 0
    }

    /// Returns the number of lost events, or `None` if the ids don't show it.
    ///
    /// Ids show it if each is a higher number than the one before, and if more than half of them are one higher. Ids that are timestamps
    /// or positions in a log therefore don't count as gaps.
    fn lost(&self) -> Option<u64> {
        (!self.is_unordered && self.single_steps * 2 > self.steps).then_some(self.missing)
    }

    fn take_id(&mut self, id: EventId) {
        match (self.last_id, id) {
            (None, EventId::Number(number)) => self.last_id = Some(number),
            (Some(last), EventId::Number(number)) if number > last => {
                self.steps += 1;
                self.single_steps += u64::from(number == last + 1);
                self.missing += number - last - 1;
                self.last_id = Some(number);
            }
            _ => self.is_unordered = true,
        }
    }
}

/// The events that one thread recorded during one span of the run.
#[derive(Debug)]
pub struct EventRecorder {
    pub events: u64,
    /// Number of streams with an event in the window.
    streams: u64,
    /// Number of these streams whose ids show how many events were lost.
    numbered_streams: u64,
    lost: u64,
    /// Times from the intended send of a request to the first event of its stream.
    first: Histogram<u64>,
    /// Times between successive events of a stream.
    between: Histogram<u64>,
    /// Times from the last event of each open stream to the end of the window.
    silences: Histogram<u64>,
    /// Numbers of times in `first` and `between` that are lower bounds.
    first_censored: u64,
    between_censored: u64,
}

impl Default for EventRecorder {
    fn default() -> Self {
        Self {
            events: 0,
            streams: 0,
            numbered_streams: 0,
            lost: 0,
            first: new_histogram(),
            between: new_histogram(),
            silences: new_histogram(),
            first_censored: 0,
            between_censored: 0,
        }
    }
}

impl EventRecorder {
    /// Records a block that arrived in response to the request that was sent at `sent_ns`. `due_ns` is its intended send time; `None` if the
    /// time to the first event belongs to another phase of the run.
    ///
    /// The end of a stream is recorded only now, when the next stream of the slot begins, or at the end of the window. Responses without
    /// events thus cost nothing.
    pub fn arrived(&mut self, stream: &mut EventStream, block: Block, sent_ns: u64, due_ns: Option<u64>, now_ns: u64) {
        if stream.sent_ns != sent_ns {
            self.ended(stream);
            *stream = EventStream { sent_ns, ..EventStream::default() };
        }
        if let Some(id) = block.id {
            stream.take_id(id);
        }
        if !block.is_event {
            return;
        }
        self.events += 1;
        stream.events += 1;
        if stream.has_begun(sent_ns) {
            self.between.saturating_record(now_ns.saturating_sub(stream.last_event_ns).max(1));
        } else if let Some(due_ns) = due_ns {
            stream.first_ns = now_ns.saturating_sub(due_ns).max(1);
            self.first.saturating_record(stream.first_ns);
        }
        stream.last_event_ns = now_ns;
    }

    /// Restarts the counts of a slot at the beginning of the window. `open_ns` is the send time of the request in flight, or 0. In a closed
    /// loop, the time to the first event of an open stream belongs to the window, because streams without an end all begin before it.
    pub fn window_begins(&mut self, stream: &mut EventStream, open_ns: u64, closed_loop: bool) {
        (stream.events, stream.steps, stream.single_steps, stream.missing) = (0, 0, 0, 0);
        if closed_loop && stream.has_begun(open_ns) {
            self.first.saturating_record(stream.first_ns);
        }
    }

    /// Records that a stream or the window has ended.
    fn ended(&mut self, stream: &EventStream) {
        self.streams += u64::from(stream.events > 0);
        if stream.steps > 0
            && let Some(lost) = stream.lost()
        {
            self.numbered_streams += 1;
            self.lost = self.lost.saturating_add(lost);
        }
    }

    /// Records the stream of a slot at the end of the window. `open_ns` is the send time of the request in flight, or 0.
    pub fn window_ends(&mut self, stream: &EventStream, open_ns: u64, end_ns: u64) {
        self.ended(stream);
        if stream.has_begun(open_ns) {
            self.silences.saturating_record(end_ns.saturating_sub(stream.last_event_ns).max(1));
        }
    }

    /// Records a stream whose first event didn't arrive within the timeout.
    pub fn timed_out(&mut self, due_ns: u64, now_ns: u64) {
        self.waiting(due_ns, now_ns);
        self.first_censored += 1;
    }

    /// Records the age of a stream without any event, or of a request that was due but never sent.
    pub fn waiting(&mut self, due_ns: u64, now_ns: u64) {
        self.first.saturating_record(now_ns.saturating_sub(due_ns).max(1));
    }

    pub fn between(&self) -> &Histogram<u64> {
        &self.between
    }

    pub fn reset(&mut self, pauses: Pauses) {
        (self.events, self.streams, self.numbered_streams, self.lost) = (0, 0, 0, 0);
        (self.first_censored, self.between_censored) = (0, 0);
        for histogram in [&mut self.first, &mut self.between, &mut self.silences] {
            histogram.reset();
            pauses.pause();
        }
    }

    pub fn merge(&mut self, other: &Self, pauses: Pauses) {
        self.events += other.events;
        self.streams += other.streams;
        self.numbered_streams += other.numbered_streams;
        self.lost = self.lost.saturating_add(other.lost);
        self.between_censored += other.between_censored;
        self.add_first(other);
        for (mine, theirs) in [(&mut self.between, &other.between), (&mut self.silences, &other.silences)] {
            add(mine, theirs);
            pauses.pause();
        }
    }

    /// Adds the times to the first event. All other events of a drain arrived after the window.
    pub fn add_first(&mut self, other: &Self) {
        add(&mut self.first, &other.first);
        self.first_censored += other.first_censored;
    }

    /// Adds the times that were still running at the end of the run, if they exceed the p99 of the finished times. They are lower bounds.
    pub fn add_unfinished(&mut self, waiting: Option<&Self>) {
        if let Some(waiting) = waiting {
            let beyond_ns = p99_ns(&self.first);
            self.first_censored += add_beyond(&mut self.first, &waiting.first, beyond_ns).0;
        }
        let beyond_ns = p99_ns(&self.between);
        self.between_censored += add_beyond(&mut self.between, &self.silences, beyond_ns).0;
    }
}

/// Events of event streams.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Events {
    /// Events received. Comments aren't events.
    pub count: u64,
    /// Events per second.
    pub per_s: f64,
    /// Streams with at least one event.
    pub streams: u64,
    /// Streams whose ids show how many events were lost: ascending numbers, of which more than half are one higher than the number before.
    pub numbered_streams: u64,
    /// Ids that are missing in the numbered streams; null if there are no such streams.
    pub lost: Option<u64>,
    /// Times from the intended send of a request to the first event of its stream, in microseconds. Covers the streams that were due within
    /// the window or, in a closed loop, open within it.
    pub first_us: Distribution,
    /// Times between successive events of a stream, in microseconds. Events that arrive in the same read are 1 ns apart.
    pub between_us: Distribution,
    /// Times in `first_us` that are lower bounds, because there was no event before the timeout or the end.
    pub first_censored: u64,
    /// Times in `between_us` that are lower bounds, because the next event hadn't arrived at the end.
    pub between_censored: u64,
}

impl Events {
    pub fn new(recorded: &EventRecorder, duration_s: f64) -> Self {
        Self {
            count: recorded.events,
            per_s: if duration_s > 0.0 { recorded.events as f64 / duration_s } else { 0.0 },
            streams: recorded.streams,
            numbered_streams: recorded.numbered_streams,
            lost: (recorded.numbered_streams > 0).then_some(recorded.lost),
            first_us: (&recorded.first).into(),
            between_us: (&recorded.between).into(),
            first_censored: recorded.first_censored,
            between_censored: recorded.between_censored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(ids: &[EventId]) -> (u64, Option<u64>) {
        let (mut recorder, mut stream) = (EventRecorder::default(), EventStream::default());
        for id in ids {
            recorder.arrived(&mut stream, Block { is_event: true, id: Some(*id) }, 1, Some(1), 2);
        }
        recorder.ended(&stream);
        let events = Events::new(&recorder, 1.0);
        (events.numbered_streams, events.lost)
    }

    fn numbers(ids: &[u64]) -> (u64, Option<u64>) {
        lost(&ids.iter().map(|id| EventId::Number(*id)).collect::<Vec<_>>())
    }

    #[test]
    fn gaps_in_numbers_are_lost_events() {
        assert_eq!(numbers(&[7, 8, 9]), (1, Some(0)));
        assert_eq!(numbers(&[7, 8, 9, 12, 13]), (1, Some(2)));
    }

    #[test]
    fn more_lost_events_than_a_number_can_count_do_not_start_at_zero_again() {
        let (mut recorder, mut stream) = (EventRecorder::default(), EventStream::default());
        for id in [1, 2, 3, u64::MAX] {
            recorder.arrived(&mut stream, Block { is_event: true, id: Some(EventId::Number(id)) }, 1, Some(1), 2);
        }
        recorder.ended(&stream);
        recorder.ended(&stream);
        assert_eq!(recorder.lost, u64::MAX);
    }

    #[test]
    fn other_ids_say_nothing_about_lost_events() {
        assert_eq!(numbers(&[7]), (0, None), "one id has no successor");
        assert_eq!(numbers(&[10, 20, 30]), (0, None), "positions");
        assert_eq!(numbers(&[1, 2, 3, 3]), (0, None), "a repeated id");
        assert_eq!(numbers(&[1, 2, 3, 1]), (0, None), "a restarted count");
        assert_eq!(lost(&[EventId::Number(1), EventId::Number(2), EventId::Text]), (0, None));
    }

    #[test]
    fn only_events_are_counted_but_every_id_is() {
        let (mut recorder, mut stream) = (EventRecorder::default(), EventStream::default());
        for (is_event, id) in [(true, 1), (false, 2), (true, 3)] {
            recorder.arrived(&mut stream, Block { is_event, id: Some(EventId::Number(id)) }, 1, Some(1), 2);
        }
        recorder.ended(&stream);
        let events = Events::new(&recorder, 2.0);
        assert_eq!((events.count, events.per_s, events.lost), (2, 1.0, Some(0)));
        assert_eq!((events.first_us.count, events.between_us.count), (1, 1));
    }

    #[test]
    fn long_silences_at_the_end_are_lower_bounds() {
        let (mut recorder, mut stream) = (EventRecorder::default(), EventStream::default());
        for now_ns in (1..=100).map(|count| count * 1_000_000) {
            recorder.arrived(&mut stream, Block { is_event: true, id: None }, 1, Some(1), now_ns);
        }
        recorder.window_ends(&stream, 1, 100_500_000);
        recorder.window_ends(&stream, 1, 200_000_000);
        recorder.add_unfinished(None);
        let events = Events::new(&recorder, 1.0);
        assert_eq!((events.between_censored, events.between_us.count), (1, 100), "a silence of 0.5 ms says nothing");
        assert!((events.between_us.max.unwrap_or(0.0) / 100e3 - 1.0).abs() < 0.001);
    }
}

//! Whose answer is next: connections in the order in which their requests were sent, asked some at a time.
//!
//! A server that works off its requests one after the other answers in this order, so asking those who have waited longest finds every answer
//! soon. One that does not would be heard late: each round therefore asks one of the others as well. Where these often have an answer
//! before those whose turn it is, there is no order to rely on.

use std::collections::VecDeque;

/// It is the turn of half of the connections, and of no more than this, in one round.
const DUE_MAX: usize = 32;
/// How many of the others have to be asked for a judgement, and that one in so many may have an answer out of turn.
const JUDGED: u32 = 64;
const EARLY_SHARE: u32 = 8;

/// A place in the queue, void once the connection has got another or has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticket {
    index: u32,
    number: u64,
}

pub struct Turns {
    queue: VecDeque<Ticket>,
    /// The number of each connection's ticket; 0: it is not in the queue.
    numbers: Vec<u64>,
    issued: u64,
    /// Whom this round asks: first those whose turn it is, who are out of the queue meanwhile; then one other, who is not.
    round: Vec<Ticket>,
    due_max: usize,
    due: usize,
    /// Where in the queue the last of the others was found.
    cursor: usize,
    others: u32,
    early: u32,
}

impl Turns {
    pub fn new(connections: u32) -> Self {
        let connections = connections as usize;
        Self {
            queue: VecDeque::with_capacity(2 * connections + DUE_MAX + 1),
            numbers: vec![0; connections],
            issued: 0,
            round: Vec::with_capacity(DUE_MAX + 1),
            due_max: (connections / 2).clamp(1, DUE_MAX),
            due: 0,
            cursor: 0,
            others: 0,
            early: 0,
        }
    }

    /// From now on the connection waits behind all others.
    #[inline]
    pub fn put_last(&mut self, index: u32) {
        if self.queue.len() >= 2 * self.numbers.len() {
            let numbers = &self.numbers;
            self.queue.retain(|ticket| numbers[ticket.index as usize] == ticket.number);
        }
        self.issued += 1;
        self.numbers[index as usize] = self.issued;
        self.queue.push_back(Ticket { index, number: self.issued });
    }

    #[inline]
    pub fn has(&self, index: u32) -> bool {
        self.numbers[index as usize] != 0
    }

    pub fn remove(&mut self, index: u32) {
        self.numbers[index as usize] = 0;
    }

    /// Takes out the connection that has waited longest.
    pub fn pop(&mut self) -> Option<u32> {
        self.end_round();
        let Ticket { index, .. } = self.pop_waiting()?;
        self.remove(index);
        Some(index)
    }

    /// Ends a round and begins the next one; returns how many it asks.
    #[inline]
    pub fn next_round(&mut self) -> usize {
        self.end_round();
        while self.round.len() < self.due_max {
            let Some(ticket) = self.pop_waiting() else { break };
            self.round.push(ticket);
        }
        self.due = self.round.len();
        self.cursor = if self.cursor + 1 < self.queue.len() { self.cursor + 1 } else { 0 };
        if let Some(other) = self.queue.get(self.cursor).filter(|ticket| self.waits(**ticket)) {
            self.round.push(*other);
        }
        self.round.len()
    }

    /// The connection at this place of the round.
    #[inline]
    pub fn asked(&self, at: usize) -> u32 {
        self.round[at].index
    }

    /// Whether answers come out of turn too often. Judges what was seen since the last judgement, as soon as that is enough.
    #[inline]
    pub fn is_disorderly(&mut self) -> bool {
        if self.others < JUDGED {
            return false;
        }
        let disorderly = self.early * EARLY_SHARE > self.others;
        self.forgive();
        disorderly
    }

    /// Forgets what came out of turn.
    pub fn forgive(&mut self) {
        (self.others, self.early) = (0, 0);
    }

    #[inline]
    fn waits(&self, ticket: Ticket) -> bool {
        self.numbers[ticket.index as usize] == ticket.number
    }

    fn pop_waiting(&mut self) -> Option<Ticket> {
        loop {
            let ticket = self.queue.pop_front()?;
            if self.waits(ticket) {
                return Some(ticket);
            }
        }
    }

    /// Who had no answer keeps the place.
    #[inline]
    fn end_round(&mut self) {
        let before = self.queue.len();
        for at in (0..self.due).rev() {
            let ticket = self.round[at];
            if self.waits(ticket) {
                self.queue.push_front(ticket);
            }
        }
        // Where all had an answer there may be many more, in good order.
        if self.queue.len() > before && self.round.len() > self.due {
            self.others += 1;
            self.early += u32::from(!self.waits(self.round[self.due]));
        }
        self.round.clear();
        self.due = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONNECTIONS: u32 = 100;

    fn waiting() -> Turns {
        let mut turns = Turns::new(CONNECTIONS);
        (0..CONNECTIONS).for_each(|index| turns.put_last(index));
        turns
    }

    /// One round in which those of whom `answers` is true have an answer and send again.
    fn round(turns: &mut Turns, mut answers: impl FnMut(u32) -> bool) -> Vec<u32> {
        let asked: Vec<_> = (0..turns.next_round()).map(|at| turns.asked(at)).collect();
        asked.iter().filter(|index| answers(**index)).for_each(|index| turns.put_last(*index));
        asked
    }

    #[test]
    fn those_who_wait_longest_are_asked_until_they_have_an_answer() {
        let mut turns = waiting();
        for _ in 0..3 {
            assert_eq!(round(&mut turns, |index| index == 1)[..2], [0, 1]);
            turns = waiting();
        }
        round(&mut turns, |index| index == 1);
        assert_eq!(round(&mut turns, |_| false)[..3], [0, 2, 3]);
        turns.remove(2);
        assert_eq!(round(&mut turns, |_| false)[..3], [0, 3, 4]);
        assert!(!turns.has(2) && turns.has(1));
    }

    #[test]
    fn a_server_with_one_queue_is_orderly() {
        let mut turns = waiting();
        for burst in [0, 1, 2, 30].into_iter().cycle().take(10_000) {
            let mut left = burst;
            while left > 0 {
                // It answers its next ones, and no others.
                let asked = (0..turns.next_round()).map(|at| turns.asked(at)).take(DUE_MAX).collect::<Vec<_>>();
                let answered = left.min(asked.len());
                asked[..answered].iter().for_each(|index| turns.put_last(*index));
                left -= answered;
            }
            round(&mut turns, |_| false);
            assert!(!turns.is_disorderly());
        }
    }

    #[test]
    fn a_server_that_is_fast_for_half_of_the_connections_is_not() {
        let mut turns = waiting();
        let rounds = (0..1000).position(|_| {
            round(&mut turns, |index| index % 2 == 1);
            turns.is_disorderly()
        });
        assert!(rounds.is_some_and(|rounds| rounds < 200), "{rounds:?}");
    }

    proptest! {
        /// However late the others are answered, and whoever is answered meanwhile, an answer is heard within so many rounds.
        #[test]
        fn nobody_who_has_an_answer_waits_for_long(late in 0..CONNECTIONS, one in 0..CONNECTIONS, rate in 1..50u32) {
            let mut turns = waiting();
            let rounds = (0..3 * CONNECTIONS).position(|number| {
                let answers = |index| index == one || (index >= late && (index + number) % rate == 0);
                round(&mut turns, answers).contains(&one)
            });
            prop_assert!(rounds.is_some(), "not within {} rounds", 3 * CONNECTIONS);
        }

        /// Whatever is answered and whoever leaves, everybody who waits is in the queue once, and comes out of it once.
        #[test]
        fn nobody_is_lost(steps in prop::collection::vec((0..CONNECTIONS, 0..4u8), 0..500)) {
            let mut turns = waiting();
            let mut here = [true; CONNECTIONS as usize];
            for (index, what) in steps {
                match what {
                    0 => { turns.remove(index); here[index as usize] = false; }
                    1 => { turns.put_last(index); here[index as usize] = true; }
                    _ => {
                        let mut asked = round(&mut turns, |asked| (asked + index) % 3 == 0);
                        prop_assert!(asked.iter().all(|index| here[*index as usize]));
                        asked.sort_unstable();
                        prop_assert!(asked.windows(2).all(|pair| pair[0] != pair[1]), "nobody is asked twice in a round");
                    }
                }
            }
            let mut left: Vec<_> = std::iter::from_fn(|| turns.pop()).collect();
            left.sort_unstable();
            prop_assert_eq!(left, (0..CONNECTIONS).filter(|index| here[*index as usize]).collect::<Vec<_>>());
        }
    }
}

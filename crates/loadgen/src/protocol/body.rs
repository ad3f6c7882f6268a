//! Checks bodies piece by piece, without storing them.

use crate::protocol::Outcome;
use crate::request::expectation::BodyExpectation;

/// An incremental comparison of one body with its expectation.
#[derive(Clone)]
pub struct BodyCheck {
    position: usize,
    same: bool,
    digest: Option<Box<ring::digest::Context>>,
}

impl BodyCheck {
    pub fn new(expectation: &BodyExpectation) -> Self {
        let digest = match expectation {
            BodyExpectation::Sha256(_) => Some(Box::new(ring::digest::Context::new(&ring::digest::SHA256))),
            BodyExpectation::Any | BodyExpectation::Exact(_) | BodyExpectation::EventStream => None,
        };
        Self { position: 0, same: true, digest }
    }

    #[inline]
    pub fn update(&mut self, expectation: &BodyExpectation, piece: &[u8]) {
        match expectation {
            BodyExpectation::Any | BodyExpectation::EventStream => {}
            BodyExpectation::Exact(expected) => {
                let end = self.position + piece.len();
                self.same = self.same && expected.get(self.position..end) == Some(piece);
                self.position = end;
            }
            BodyExpectation::Sha256(_) => {
                if let Some(digest) = &mut self.digest {
                    digest.update(piece);
                }
            }
        }
    }

    #[inline]
    pub fn finish(&mut self, expectation: &BodyExpectation) -> bool {
        match expectation {
            BodyExpectation::Any | BodyExpectation::EventStream => true,
            BodyExpectation::Exact(expected) => self.same && self.position == expected.len(),
            BodyExpectation::Sha256(expected) => self.digest.take().is_some_and(|digest| digest.finish().as_ref() == expected),
        }
    }
}

/// Returns the outcome of a complete response. If the status is unexpected, the body doesn't matter.
#[inline]
pub fn outcome(status_is_correct: bool, body_is_correct: bool) -> Outcome {
    match (status_is_correct, body_is_correct) {
        (false, _) => Outcome::UnexpectedStatus,
        (true, false) => Outcome::UnexpectedBody,
        (true, true) => Outcome::Ok,
    }
}

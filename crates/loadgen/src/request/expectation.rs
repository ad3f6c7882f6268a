//! Defines which responses are correct.

use std::sync::Arc;

/// The properties of a correct response.
#[derive(Clone, Debug, Default)]
pub struct Expectation {
    /// The expected status. If `None`, any status from 200 to 299 is correct.
    pub status: Option<u16>,
    pub body: BodyExpectation,
}

#[derive(Clone, Debug, Default)]
pub enum BodyExpectation {
    #[default]
    Any,
    Exact(Arc<[u8]>),
    Sha256([u8; 32]),
    /// An event stream with any events.
    EventStream,
}

impl Expectation {
    pub fn status_is_correct(&self, status: u16) -> bool {
        self.status.map_or((200..300).contains(&status), |expected| expected == status)
    }

    /// Returns a key for hash maps. Expectations with the same key are equal. Equal bodies in different memory have different keys.
    pub(super) fn key(&self) -> (Option<u16>, usize, [u8; 32]) {
        match &self.body {
            BodyExpectation::Any => (self.status, 0, [0; 32]),
            BodyExpectation::Exact(bytes) => (self.status, bytes.as_ptr() as usize, [0; 32]),
            BodyExpectation::Sha256(digest) => (self.status, 1, *digest),
            BodyExpectation::EventStream => (self.status, 2, [0; 32]),
        }
    }

    pub fn is_event_stream(&self) -> bool {
        matches!(self.body, BodyExpectation::EventStream)
    }

    pub fn checks_body(&self) -> bool {
        !matches!(self.body, BodyExpectation::Any)
    }
}

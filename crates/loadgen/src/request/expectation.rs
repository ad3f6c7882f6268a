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
}

impl Expectation {
    pub fn status_is_correct(&self, status: u16) -> bool {
        self.status.map_or((200..300).contains(&status), |expected| expected == status)
    }

    pub fn checks_body(&self) -> bool {
        !matches!(self.body, BodyExpectation::Any)
    }
}

//! One kind of request, with what its response must be.

use std::sync::Arc;

use super::expectation::Expectation;

const SEQUENCE: &[u8] = b"{{seq}}";
const RANDOM: &[u8] = b"{{random}}";
/// Placeholders are replaced by text of one length, so that a template can state its Content-Length.
pub(super) const SEQUENCE_DIGITS: usize = 10;
pub(super) const RANDOM_DIGITS: usize = 16;

/// The methods whose responses are framed in their own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    Head,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    Sequence,
    Random,
}

/// A request in the form that HTTP/2 sends.
#[derive(Clone, Debug)]
pub struct Structured {
    /// Names and values, pseudo-headers first.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub body: Arc<[u8]>,
}

/// One kind of request.
#[derive(Clone, Debug)]
pub struct RequestKind {
    /// What the result calls it.
    pub name: String,
    /// How often it has its turn, among others.
    pub weight: u32,
    pub method_kind: MethodKind,
    /// As HTTP/1.1 sends it.
    pub bytes: Vec<u8>,
    /// As HTTP/2 sends it, if it is to.
    pub structured: Option<Structured>,
    pub expectation: Expectation,
    /// Where the text of placeholders goes.
    pub(super) placeholders: Vec<(usize, Placeholder)>,
}

impl RequestKind {
    pub fn fixed(bytes: Vec<u8>, method_kind: MethodKind, expectation: Expectation) -> Self {
        Self { name: String::new(), weight: 1, method_kind, bytes, structured: None, expectation, placeholders: Vec::new() }
    }

    /// The request under this name and weight.
    pub fn named(self, name: &str, weight: u32) -> Self {
        Self { name: name.to_owned(), weight, ..self }
    }

    /// A request with `{{seq}}` and `{{random}}` in it.
    pub fn from_template(template: &[u8], method_kind: MethodKind, expectation: Expectation) -> Self {
        let (mut bytes, mut placeholders, mut rest) = (Vec::new(), Vec::new(), template);
        while !rest.is_empty() {
            let (kind, name, digits) = match rest {
                _ if rest.starts_with(SEQUENCE) => (Placeholder::Sequence, SEQUENCE, SEQUENCE_DIGITS),
                _ if rest.starts_with(RANDOM) => (Placeholder::Random, RANDOM, RANDOM_DIGITS),
                _ => {
                    bytes.push(rest[0]);
                    rest = &rest[1..];
                    continue;
                }
            };
            placeholders.push((bytes.len(), kind));
            bytes.resize(bytes.len() + digits, b'0');
            rest = &rest[name.len()..];
        }
        Self { name: String::new(), weight: 1, method_kind, bytes, structured: None, expectation, placeholders }
    }
}

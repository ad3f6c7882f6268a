//! One kind of request together with its correct response.

use std::sync::Arc;

use super::expectation::Expectation;

const SEQUENCE: &[u8] = b"{{seq}}";
const RANDOM: &[u8] = b"{{random}}";
/// Number of digits in the text of each placeholder. The length is fixed, so that a template can contain its Content-Length.
pub(super) const SEQUENCE_DIGITS: usize = 10;
pub(super) const RANDOM_DIGITS: usize = 16;

/// The method of a request, as far as it affects the framing of the response.
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

/// A request in the form that HTTP/2 needs.
#[derive(Clone, Debug)]
pub struct Structured {
    /// Names and values of all header fields, pseudo-header fields first.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub body: Arc<[u8]>,
}

/// One kind of request.
#[derive(Clone, Debug)]
pub struct RequestKind {
    /// Name of the request in the result.
    pub name: String,
    /// Weight of the request in the mix.
    pub weight: u32,
    pub method_kind: MethodKind,
    /// The encoded HTTP/1.1 request.
    pub bytes: Vec<u8>,
    /// The HTTP/2 request, if HTTP/2 is used.
    pub structured: Option<Structured>,
    pub expectation: Expectation,
    /// Positions of the placeholders.
    pub(super) placeholders: Vec<(usize, Placeholder)>,
}

impl RequestKind {
    pub fn fixed(bytes: Vec<u8>, method_kind: MethodKind, expectation: Expectation) -> Self {
        Self { name: String::new(), weight: 1, method_kind, bytes, structured: None, expectation, placeholders: Vec::new() }
    }

    /// Returns the request with this name and weight.
    pub fn named(self, name: &str, weight: u32) -> Self {
        Self { name: name.to_owned(), weight, ..self }
    }

    /// Creates a request from a template with `{{seq}}` and `{{random}}`.
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

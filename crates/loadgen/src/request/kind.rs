//! One request, and its correct response.

use std::sync::Arc;

use super::expectation::Expectation;

const SEQUENCE: &[u8] = b"{{seq}}";
const RANDOM: &[u8] = b"{{random}}";
/// Number of digits that replace each placeholder. These numbers are fixed, so that a template can contain its Content-Length.
pub(super) const SEQUENCE_DIGITS: usize = 10;
pub(super) const RANDOM_DIGITS: usize = 16;

/// Whether the method of a request is HEAD. The response to a HEAD request has no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    Head,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    Sequence,
    Random,
}

/// A request in the form that HTTP/2 requires: header fields and a body.
#[derive(Clone, Debug)]
pub struct Structured {
    /// Names and values of all header fields, pseudo-header fields first.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub body: Arc<[u8]>,
}

/// What to do with a response. Requests with the same name and the same correct response share one.
#[derive(Clone, Debug)]
pub struct Awaited {
    /// Index of the part of the load that the response counts for.
    pub part: u16,
    pub method_kind: MethodKind,
    pub expectation: Expectation,
}

/// A request, of which any number of copies is sent.
#[derive(Clone, Debug)]
pub struct RequestKind {
    /// Name of the request in the result. Requests with the same name count as one part of the load.
    pub name: String,
    /// Weight of the request in the mix.
    pub weight: u32,
    pub method_kind: MethodKind,
    /// The encoded HTTP/1.1 request.
    pub bytes: Vec<u8>,
    /// The request for HTTP/2; `None` with HTTP/1.1.
    pub structured: Option<Structured>,
    pub expectation: Expectation,
    /// The placeholders and their positions in `bytes`.
    pub(super) placeholders: Vec<(usize, Placeholder)>,
}

impl RequestKind {
    pub fn fixed(bytes: Vec<u8>, method_kind: MethodKind, expectation: Expectation) -> Self {
        Self { name: String::new(), weight: 1, method_kind, bytes, structured: None, expectation, placeholders: Vec::new() }
    }

    /// Sets the name and the weight.
    pub fn named(self, name: &str, weight: u32) -> Self {
        Self { name: name.to_owned(), weight, ..self }
    }

    /// Creates a request from a template, which may contain the placeholders `{{seq}}` and `{{random}}`.
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

//! The parts of a request, parsed from options and files.

use anyhow::{Context, Result};

use crate::request::expectation::BodyExpectation;

/// The parts of a request other than its URL.
pub(super) struct Message<'a> {
    pub method: &'a str,
    pub headers: Vec<(&'a str, &'a str)>,
    pub body: Option<Vec<u8>>,
}

/// Parses header fields into names and values.
pub(super) fn header_fields(headers: &[String]) -> Result<Vec<(&str, &str)>> {
    let parse = |header: &'_ String| -> Option<(usize, usize)> {
        let colon = header.find(':')?;
        let value_is_clean = header[colon + 1..].bytes().all(|byte| byte >= b' ' || byte == b'\t');
        let name_is_token = colon > 0 && header[..colon].bytes().all(is_token_byte);
        (value_is_clean && name_is_token).then_some((colon, colon + 1))
    };
    headers
        .iter()
        .map(|header| {
            let (name_end, value_start) =
                parse(header).with_context(|| format!("`{header}` is not a valid header field; write 'Name: value'"))?;
            Ok((&header[..name_end], header[value_start..].trim()))
        })
        .collect()
}

/// Returns the expectation that a body has this SHA-256 digest.
pub(super) fn sha256(hex: &str) -> Result<BodyExpectation> {
    let digest = parse_sha256(hex).with_context(|| format!("`{hex}` is not a SHA-256; write 64 hexadecimal digits"))?;
    Ok(BodyExpectation::Sha256(digest))
}

fn parse_sha256(hex: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(digest)
}

/// Returns whether a byte is allowed in methods and header field names.
pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

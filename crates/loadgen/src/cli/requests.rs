//! Builds the requests and their expected responses from the command-line arguments.

use std::fmt::Write;

use anyhow::{Context, Result, bail};

use super::Args;
use super::message::{Message, header_fields, is_token_byte, sha256};
use super::request_file::{self, FileRequest};
use crate::endpoint::url::Url;
use crate::request::Requests;
use crate::request::expectation::{BodyExpectation, Expectation};
use crate::request::kind::MethodKind;
use crate::request::kind::{RequestKind, Structured};

/// Connection-specific header fields of HTTP/1.1, which HTTP/2 forbids (RFC 9113, 8.2.2).
const CONNECTION_FIELDS: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

impl Args {
    pub(super) fn requests(&self, urls: &[Url]) -> Result<Requests> {
        if !(self.weights.is_empty() || self.weights.len() == urls.len()) {
            bail!("{} weights for {} URLs; specify one per URL", self.weights.len(), urls.len());
        }
        let kinds = match &self.mix {
            Some(_) if urls.len() > 1 => bail!("--mix takes only one URL, but {} were given", urls.len()),
            Some(path) => request_file::read(path)?.iter().map(|request| self.file_kind(&urls[0], request)).collect::<Result<Vec<_>>>()?,
            None => self.kinds_of_urls(urls)?,
        };
        let weights: Vec<_> = kinds.iter().map(|kind| kind.weight).collect();
        Ok(Requests::new(kinds, &weights, self.pipeline))
    }

    fn kinds_of_urls(&self, urls: &[Url]) -> Result<Vec<RequestKind>> {
        let body = self.body_expectation()?;
        let status = if self.sse { Some(200) } else { self.expect_status };
        let expectation = Expectation { status, body };
        let named = urls.iter().zip(&self.urls).enumerate();
        named
            .map(|(index, (url, name))| {
                let kind = self.request_kind(url, &expectation)?;
                Ok(kind.named(name, self.weights.get(index).copied().unwrap_or(1)))
            })
            .collect()
    }

    fn file_kind(&self, url: &Url, request: &FileRequest) -> Result<RequestKind> {
        let url = Url { path: request.path.clone(), ..url.clone() };
        let kind = self.fixed_kind(&url, &request.message(), request.expectation.clone())?;
        Ok(kind.named(&request.name, request.weight))
    }

    fn request_kind(&self, url: &Url, expectation: &Expectation) -> Result<RequestKind> {
        if let Some(raw) = &self.raw_request {
            let bytes = text_or_file(raw)?;
            let method_kind = if bytes.starts_with(b"HEAD ") { MethodKind::Head } else { MethodKind::Other };
            return Ok(RequestKind::from_template(&bytes, method_kind, expectation.clone()));
        }
        let body = self.body.as_deref().map(text_or_file).transpose()?;
        let mut headers = header_fields(&self.headers)?;
        if self.sse && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept")) {
            headers.push(("Accept", "text/event-stream"));
        }
        let message = Message { method: &self.method, headers, body };
        self.fixed_kind(url, &message, expectation.clone())
    }

    fn fixed_kind(&self, url: &Url, message: &Message, expectation: Expectation) -> Result<RequestKind> {
        if message.method.is_empty() || !message.method.bytes().all(is_token_byte) {
            bail!("`{}` is not a valid method", message.method);
        }
        let method_kind = if message.method == "HEAD" { MethodKind::Head } else { MethodKind::Other };
        let mut kind = RequestKind::fixed(self.request_bytes(url, message)?, method_kind, expectation);
        kind.structured = self.http2.then(|| structured(url, message)).transpose()?;
        Ok(kind)
    }

    fn body_expectation(&self) -> Result<BodyExpectation> {
        if let Some(hex) = &self.expect_body_sha256 {
            return sha256(hex);
        }
        Ok(match &self.expect_body {
            None if self.sse => BodyExpectation::EventStream,
            Some(text) => BodyExpectation::Exact(text_or_file(text)?.into()),
            None => BodyExpectation::Any,
        })
    }

    fn request_bytes(&self, url: &Url, message: &Message) -> Result<Vec<u8>> {
        let Message { method, headers, body } = message;
        let mut head = format!("{method} {} HTTP/1.1\r\n", url.path);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            write!(head, "Host: {}\r\n", url.host_header())?;
        }
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n")?;
        }
        if self.no_keepalive {
            head.push_str("Connection: close\r\n");
        }
        if let Some(body) = body {
            write!(head, "Content-Length: {}\r\n", body.len())?;
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body.as_deref().unwrap_or_default());
        Ok(bytes)
    }
}

fn structured(url: &Url, message: &Message) -> Result<Structured> {
    let (authority, method) = (url.host_header(), message.method);
    let pseudo = [(":method", method), (":scheme", url.scheme.name()), (":authority", &authority), (":path", &url.path)];
    let mut fields: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for (name, value) in pseudo {
        // CONNECT has neither `:scheme` nor `:path` (RFC 9113, 8.5).
        if method != "CONNECT" || !matches!(name, ":scheme" | ":path") {
            fields.push((name.into(), value.into()));
        }
    }
    for (name, value) in &message.headers {
        let name = name.to_ascii_lowercase();
        if CONNECTION_FIELDS.contains(&name.as_str()) || (name == "te" && *value != "trailers") || value.contains('\x7f') {
            bail!("the header `{name}: {value}` cannot be sent with HTTP/2");
        }
        fields.push((name.into(), (*value).into()));
    }
    Ok(Structured { fields, body: message.body.clone().unwrap_or_default().into() })
}

fn text_or_file(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix('@') {
        Some(path) => std::fs::read(path).with_context(|| format!("cannot read `{path}`")),
        None => Ok(text.as_bytes().to_vec()),
    }
}

//! The `--mix` file: several requests, each with its weight and its correct response.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::message::{Message, header_fields, sha256};
use crate::request::expectation::{BodyExpectation, Expectation};

/// Maximum number of requests in a file. It is low because every recorder has a separate histogram for each request in the file.
const REQUESTS_MAX: usize = 16;
const WEIGHT_MAX: u32 = 1000;

/// One request in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    pub name: String,
    #[serde(default = "one")]
    pub weight: u32,
    #[serde(default = "get")]
    method: String,
    pub path: String,
    /// Header fields, as `Name: value`.
    #[serde(default)]
    headers: Vec<String>,
    body: Option<String>,
    expect_status: Option<u16>,
    expect_body: Option<String>,
    expect_body_sha256: Option<String>,
}

fn one() -> u32 {
    1
}

fn get() -> String {
    "GET".to_owned()
}

impl Stated {
    /// Returns the method, header fields and body. The header fields are valid, because they were checked when the file was read.
    pub(super) fn message(&self) -> Message<'_> {
        let headers = header_fields(&self.headers).unwrap_or_default();
        Message { method: &self.method, headers, body: self.body.as_ref().map(|body| body.as_bytes().to_vec()) }
    }

    pub(super) fn expectation(&self) -> Result<Expectation> {
        let body = match (&self.expect_body, &self.expect_body_sha256) {
            (Some(text), _) => BodyExpectation::Exact(text.as_bytes().into()),
            (None, Some(hex)) => sha256(hex)?,
            (None, None) => BodyExpectation::Any,
        };
        Ok(Expectation { status: self.expect_status, body })
    }

    fn check(&self) -> Result<()> {
        header_fields(&self.headers)?;
        if !self.path.starts_with('/') || !self.path.bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!("`{}` is not a path; start with `/` and percent-encode spaces", self.path);
        }
        if !(1..=WEIGHT_MAX).contains(&self.weight) {
            bail!("the weight {} is not between 1 and {WEIGHT_MAX}", self.weight);
        }
        Ok(())
    }
}

/// Reads and validates the file.
pub fn read(path: &Path) -> Result<Vec<Stated>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{shown}`"))?;
    let requests: Vec<Stated> = serde_json::from_str(&text).with_context(|| format!("`{shown}` is not a valid file of requests"))?;
    if !(1..=REQUESTS_MAX).contains(&requests.len()) {
        bail!("`{shown}` has {} requests, but it must have 1 to {REQUESTS_MAX}", requests.len());
    }
    for stated in &requests {
        stated.check().with_context(|| format!("`{shown}`, request `{}`", stated.name))?;
    }
    Ok(requests)
}

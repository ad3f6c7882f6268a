//! The `--mix` file: many requests, each with its weight and its correct response.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Deserializer};

use super::message::{Message, header_fields, sha256};
use crate::request::expectation::{BodyExpectation, Expectation};

/// Maximum number of requests in a file, and maximum sum of their weights.
const REQUESTS_MAX: usize = 100_000;
const WEIGHTS_MAX: u32 = 1_000_000;
/// Maximum number of different names in a file. It is low because every recorder has a separate histogram for each name.
const NAMES_MAX: usize = 16;
const WEIGHT_MAX: u32 = 1000;

/// One request in the file. It inherits what it leaves out from the first request with its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    name: String,
    #[serde(default = "one")]
    weight: u32,
    method: Option<String>,
    path: Option<String>,
    /// Header fields, as `Name: value`.
    headers: Option<Vec<String>>,
    #[serde(default, deserialize_with = "given")]
    body: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    expect_status: Option<Option<u16>>,
    #[serde(default, deserialize_with = "given")]
    expect_body: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    expect_body_sha256: Option<Option<String>>,
}

fn one() -> u32 {
    1
}

/// Distinguishes `null`, which means none, from a missing key, which means the value of the first request with this name.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// One request of the file, complete.
#[derive(Clone, Debug)]
pub struct FileRequest {
    pub name: String,
    pub weight: u32,
    method: String,
    pub path: String,
    headers: Vec<String>,
    body: Option<String>,
    pub expectation: Expectation,
}

impl FileRequest {
    /// Returns the method, header fields and body. The header fields are valid, because they were checked when the file was read.
    pub(super) fn message(&self) -> Message<'_> {
        let headers = header_fields(&self.headers).unwrap_or_default();
        Message { method: &self.method, headers, body: self.body.as_ref().map(|body| body.as_bytes().to_vec()) }
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

impl Stated {
    /// Returns the complete request. `first` is the first request with this name, or `None` if this is the first one.
    fn completed(self, first: Option<&FileRequest>) -> Result<FileRequest> {
        let expectation = self.expectation(first.map(|first| &first.expectation))?;
        let inherited = |of: fn(&FileRequest) -> &String| first.map(|first| of(first).clone());
        let completed = FileRequest {
            weight: self.weight,
            method: self.method.or_else(|| inherited(|first| &first.method)).unwrap_or_else(|| "GET".to_owned()),
            path: self.path.or_else(|| inherited(|first| &first.path)).context("missing field `path`")?,
            headers: self.headers.or_else(|| first.map(|first| first.headers.clone())).unwrap_or_default(),
            body: self.body.unwrap_or_else(|| first.and_then(|first| first.body.clone())),
            expectation,
            name: self.name,
        };
        completed.check()?;
        Ok(completed)
    }

    fn expectation(&self, first: Option<&Expectation>) -> Result<Expectation> {
        let body = match (&self.expect_body, &self.expect_body_sha256) {
            (Some(Some(text)), _) => BodyExpectation::Exact(text.as_bytes().into()),
            (_, Some(Some(hex))) => sha256(hex)?,
            (None, None) => first.map(|first| first.body.clone()).unwrap_or_default(),
            (Some(None), _) | (None, Some(None)) => BodyExpectation::Any,
        };
        let status = self.expect_status.unwrap_or_else(|| first.and_then(|first| first.status));
        Ok(Expectation { status, body })
    }
}

/// Reads and validates the file.
pub fn read(path: &Path) -> Result<Vec<FileRequest>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{shown}`"))?;
    let stated: Vec<Stated> = serde_json::from_str(&text).with_context(|| format!("`{shown}` is not a valid file of requests"))?;
    if !(1..=REQUESTS_MAX).contains(&stated.len()) {
        bail!("`{shown}` has {} requests, but it must have 1 to {REQUESTS_MAX}", stated.len());
    }
    let mut requests: Vec<FileRequest> = Vec::with_capacity(stated.len());
    let mut firsts = HashMap::new();
    for (index, stated) in stated.into_iter().enumerate() {
        let name = stated.name.clone();
        let first = firsts.get(&name).map(|first: &usize| &requests[*first]);
        requests.push(stated.completed(first).with_context(|| format!("`{shown}`, request {} (`{name}`)", index + 1))?);
        firsts.entry(name).or_insert(index);
    }
    if firsts.len() > NAMES_MAX {
        bail!("`{shown}` has {} different names, but at most {NAMES_MAX} are allowed; requests can share a name", firsts.len());
    }
    let weights: u64 = requests.iter().map(|request| u64::from(request.weight)).sum();
    if weights > u64::from(WEIGHTS_MAX) {
        bail!("the weights in `{shown}` add up to {weights}, but at most {WEIGHTS_MAX} is allowed");
    }
    Ok(requests)
}

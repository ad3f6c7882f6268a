//! Writes the result to its destinations. Files are opened before the run, so that an unwritable path is reported before the run starts.

use std::fs::{File, OpenOptions};
use std::io::{self, Write, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};

use super::printable::printable;
use super::{hdr, report};
use crate::figures::result::RunResult;

#[derive(Debug)]
enum Destination {
    Stdout,
    File { path: PathBuf, file: File },
}

impl Destination {
    fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        // Don't truncate the file yet, so that it keeps its old contents if the run fails.
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(Self::File { path: path.to_owned(), file })
    }

    fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    fn write(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        match self {
            Self::Stdout => write_stdout(content),
            Self::File { path, file } => write_file(file, content).with_context(|| format!("cannot write `{}`", path.display())),
        }
    }
}

fn write_file(mut file: &File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let text = text_of(content)?;
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(text.as_bytes())
}

fn text_of(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
    let mut bytes = Vec::new();
    content(&mut bytes)?;
    Ok(printable(&String::from_utf8_lossy(&bytes)))
}

/// Writes to stdout. As in other Unix tools, a pipe that the reader has closed isn't an error.
pub fn write_stdout(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = File::from(stdout().as_fd().try_clone_to_owned()?); // unbuffered, because a buffer would retry a failed write at exit
    match text_of(content).and_then(|text| out.write_all(text.as_bytes())) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to stdout"),
    }
}

/// The destinations of the result.
#[derive(Debug)]
pub struct Destinations {
    json: Option<Destination>,
    hdr: Option<Destination>,
}

impl Destinations {
    pub fn open(json: Option<&Path>, hdr: Option<&Path>) -> Result<Self> {
        let destinations = Self { json: json.map(Destination::open).transpose()?, hdr: hdr.map(Destination::open).transpose()? };
        if [&destinations.json, &destinations.hdr].iter().all(|place| place.as_ref().is_some_and(Destination::is_stdout)) {
            bail!("--json and --hdr cannot both write to stdout");
        }
        Ok(destinations)
    }

    /// Writes the result to each destination, and the report to stdout unless a destination uses stdout. A failure doesn't affect the other
    /// destinations. Returns all failures.
    pub fn write(&self, result: &RunResult) -> Vec<Error> {
        let json = self.json.as_ref().map(|place| place.write(|out| write_json(result, out)));
        let hdr = self.hdr.as_ref().map(|place| write_hdr(place, result));
        let taken = [&self.json, &self.hdr].into_iter().flatten().any(Destination::is_stdout);
        let report = (!taken).then(|| write_stdout(|out| report::print(result, out)));
        [json, hdr, report].into_iter().flatten().filter_map(Result::err).collect()
    }
}

fn write_json(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, result)?;
    out.write_all(b"\n")
}

fn write_hdr(place: &Destination, result: &RunResult) -> Result<()> {
    let histogram = result.response_time_us.as_ref().unwrap_or(&result.service_time_us).histogram()?;
    place.write(|out| hdr::write_percentiles(&histogram, out))
}

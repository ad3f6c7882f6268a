//! Writes to stderr without blocking forever if nobody reads it, for example because a pipe is full or Ctrl-S has stopped the terminal.

use std::fs::File;
use std::io::stderr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::LazyLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{retry_on_intr, write};
use rustix::pipe::PIPE_BUF;

use super::printable::printable;

/// Maximum time to wait until there is room for an important line. At the end of a run, the result has already been written, so this wait
/// doesn't delay it.
const PATIENCE: Duration = Duration::from_secs(2);

/// A second file for stderr, in non-blocking mode. Non-blocking mode is needed because poll(2) doesn't guarantee that a terminal has room
/// for a whole line. Stderr is opened a second time because changing the mode of the original file would affect other programs that share
/// it.
static OWN: LazyLock<Option<File>> = LazyLock::new(|| {
    let kind = FileType::from_raw_mode(fstat(stderr()).ok()?.st_mode);
    if !matches!(kind, FileType::Fifo | FileType::CharacterDevice) {
        return None; // a reopened file would have its own position, and sockets can't be reopened
    }
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    open("/proc/self/fd/2", flags, Mode::empty()).ok().map(File::from)
});

/// Writes the text if stderr has room for it right now, and drops the text otherwise.
pub fn offer(text: &str) {
    put(text, Duration::ZERO);
}

/// Writes an important line, and waits up to `PATIENCE` for room.
pub fn insist(line: &str) {
    put(&format!("{}\n", printable(line)), PATIENCE);
}

fn put(text: &str, patience: Duration) {
    let shared = stderr();
    let fd = OWN.as_ref().map_or(shared.as_fd(), AsFd::as_fd);
    let mut rest = text.as_bytes();
    while !rest.is_empty() && is_writable(fd, patience) {
        // A pipe that poll(2) reports as writable accepts at least this many bytes.
        match retry_on_intr(|| write(fd, &rest[..rest.len().min(PIPE_BUF)])) {
            Ok(count) => rest = &rest[count..],
            Err(_) => return, // the reader is gone, but the run must continue
        }
    }
}

fn is_writable(fd: BorrowedFd<'_>, patience: Duration) -> bool {
    let timeout = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: patience.subsec_nanos().into() };
    let mut polled = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    matches!(retry_on_intr(|| poll(&mut polled, Some(&timeout))), Ok(1..))
}

//! Stderr that may have no reader: a full pipe, a terminal stopped by Ctrl-S. Nothing written here blocks for ever.

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

/// How long the last lines of a run wait for a reader. By then the result is written.
const PATIENCE: Duration = Duration::from_secs(2);

/// Stderr opened once more, without blocking: poll(2) promises room for some bytes, and a terminal may have less than a line takes. The mode
/// belongs to the open file, which other programs share, so it is not set on stderr itself.
static OWN: LazyLock<Option<File>> = LazyLock::new(|| {
    let kind = FileType::from_raw_mode(fstat(stderr()).ok()?.st_mode);
    if !matches!(kind, FileType::Fifo | FileType::CharacterDevice) {
        return None; // a file opened again would have a position of its own, and a socket cannot be opened again
    }
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    open("/proc/self/fd/2", flags, Mode::empty()).ok().map(File::from)
});

/// Writes the text if that is possible at once, and drops it otherwise.
pub fn offer(text: &str) {
    put(text, Duration::ZERO);
}

/// Writes a line that matters: waits a while for room, but not for ever.
pub fn insist(line: &str) {
    put(&format!("{}\n", printable(line)), PATIENCE);
}

fn put(text: &str, patience: Duration) {
    let shared = stderr();
    let fd = OWN.as_ref().map_or(shared.as_fd(), AsFd::as_fd);
    let mut rest = text.as_bytes();
    while !rest.is_empty() && is_writable(fd, patience) {
        // A pipe that poll(2) calls writable takes this many bytes.
        match retry_on_intr(|| write(fd, &rest[..rest.len().min(PIPE_BUF)])) {
            Ok(count) => rest = &rest[count..],
            Err(_) => return, // nobody listens any more, which is no reason to stop
        }
    }
}

fn is_writable(fd: BorrowedFd<'_>, patience: Duration) -> bool {
    let timeout = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: patience.subsec_nanos().into() };
    let mut polled = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    matches!(retry_on_intr(|| poll(&mut polled, Some(&timeout))), Ok(1..))
}

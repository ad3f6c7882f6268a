//! Ends a run early on SIGINT or SIGTERM, or at the end of stdin if stdin controls the load. The results so far are still reported.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

static CAUGHT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Installs the signal handlers. The first signal sets a flag, and the second one ends the process.
pub fn install() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // Handlers run in the order of registration: the first one ends the process if the flag is already set, and the second one sets the
        // flag.
        flag::register_conditional_default(signal, Arc::clone(&CAUGHT))?;
        flag::register(signal, Arc::clone(&CAUGHT))?;
    }
    Ok(())
}

/// Returns a stream that receives a byte for each signal, so that a thread can sleep until a signal arrives.
pub fn stream() -> io::Result<UnixStream> {
    let (signals, written) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        pipe::register(signal, written.try_clone()?)?;
    }
    Ok(signals)
}

/// Ends the run early, as if a signal had been received.
pub fn end_run() {
    CAUGHT.store(true, Ordering::Relaxed);
}

/// Returns whether the run must end early, because a signal was received or `end_run` was called.
pub fn caught() -> bool {
    CAUGHT.load(Ordering::Relaxed)
}

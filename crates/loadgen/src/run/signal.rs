//! SIGINT, SIGTERM and the end of stdin, if it tells the start, end the run early; what was measured is still reported.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static CAUGHT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on the first of these signals is noted instead of ending the process; the second one ends it.
pub fn install() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // Handlers run in this order: the first signal finds the flag unset, and sets it.
        flag::register_conditional_default(signal, Arc::clone(&CAUGHT))?;
        flag::register(signal, Arc::clone(&CAUGHT))?;
    }
    Ok(())
}

/// Ends the run as a signal does.
pub fn end_run() {
    CAUGHT.store(true, Ordering::Relaxed);
}

/// Whether a signal came.
pub fn caught() -> bool {
    CAUGHT.load(Ordering::Relaxed)
}

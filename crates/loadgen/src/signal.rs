//! SIGINT and SIGTERM end the run early; what was measured is still reported.

use std::sync::atomic::{AtomicI32, Ordering};

static CAUGHT: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: libc::c_int) {
    CAUGHT.store(signal, Ordering::Relaxed);
}

/// From now on these signals are noted instead of ending the process; a second one of them ends it.
pub fn install() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: `action` is fully initialised, and the handler does nothing but store to an atomic.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// The signal that came, if one did.
pub fn caught() -> Option<i32> {
    Some(CAUGHT.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

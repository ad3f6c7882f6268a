//! Captures the panic messages of load threads, so that the result can report them.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;

/// Prefix of the names of load threads.
pub const THREAD_NAME: &str = "load-";

thread_local! {
    /// Message of the last panic in this thread.
    static PANIC: RefCell<String> = RefCell::default();
}

/// Returns the message of the calling thread's last panic.
pub fn last_panic() -> String {
    PANIC.take()
}

/// Installs a panic hook that stores the message if a load thread panics. Other threads still print their panics.
pub fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if std::thread::current().name().is_some_and(|name| name.starts_with(THREAD_NAME)) {
                PANIC.set(info.to_string().replace('\n', " "));
            } else {
                usual(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::thread::JoinHandle;

    use super::*;

    #[test]
    fn a_panic_of_a_load_thread_is_kept_as_one_line() {
        keep();
        let thread = std::thread::Builder::new().name(format!("{THREAD_NAME}7"));
        let message = thread.spawn(|| panic::catch_unwind(|| panic!("a bug")).map_err(|_| PANIC.take())).map(JoinHandle::join);
        let text = format!("{message:?}");
        assert!(text.contains("panics.rs") && text.contains("a bug") && !text.contains("\\n"), "{text}");
    }
}

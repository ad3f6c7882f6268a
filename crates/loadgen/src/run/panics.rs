//! Panics of load threads, kept for the result.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;

/// What the names of load threads begin with.
pub const THREAD_NAME: &str = "load-";

thread_local! {
    /// What the last panic of this thread said.
    static PANIC: RefCell<String> = RefCell::default();
}

/// What the last panic of the calling thread said.
pub fn last_panic() -> String {
    PANIC.take()
}

/// From now on a panic of a load thread is kept for the result; others are printed as ever.
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
    fn a_panic_of_a_load_thread_is_kept_in_one_line() {
        keep();
        let thread = std::thread::Builder::new().name(format!("{THREAD_NAME}7"));
        let said = thread.spawn(|| panic::catch_unwind(|| panic!("a bug")).map_err(|_| PANIC.take())).map(JoinHandle::join);
        let text = format!("{said:?}");
        assert!(text.contains("panics.rs") && text.contains("a bug") && !text.contains("\\n"), "{text}");
    }
}

//! Restricts name resolution in static builds to the modules that are linked in: `/etc/hosts` and DNS.
//!
//! The GNU C library would otherwise load the modules that the machine's `nsswitch.conf` names. Those modules belong to the machine's C
//! library, whose version may differ.

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    /// Overrides a line of `nsswitch.conf` for this process (from `nss.h`).
    fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
}

/// Restricts all later lookups to `/etc/hosts` and DNS. Must be called before the first lookup.
pub fn use_built_in_modules() {
    // SAFETY: both strings are NUL-terminated, and the library copies what it keeps.
    let code = unsafe { __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr()) };
    debug_assert_eq!(code, 0, "both modules are built in");
}

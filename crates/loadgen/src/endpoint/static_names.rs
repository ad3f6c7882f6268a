//! Restricts name resolution in static builds to `/etc/hosts` and DNS, whose modules are linked into the program.
//!
//! Otherwise, the GNU C library would load the modules listed in `/etc/nsswitch.conf`. Those modules are part of the installed C library,
//! whose version may differ from the one that is linked into the program.

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    /// Overrides a line of `nsswitch.conf` for this process (declared in `nss.h`).
    fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
}

/// Restricts all later lookups to `/etc/hosts` and DNS. Must be called before the first lookup.
pub fn use_built_in_modules() {
    // SAFETY: both strings are NUL-terminated, and the library copies what it keeps.
    let code = unsafe { __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr()) };
    debug_assert_eq!(code, 0, "both modules are built in");
}

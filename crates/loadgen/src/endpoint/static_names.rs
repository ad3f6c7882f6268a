//! How a static build resolves names: with what is linked into it, `/etc/hosts` and DNS.
//!
//! The GNU C library would load any other module that `nsswitch.conf` names from the machine it runs on. Such a module belongs to the C
//! library of that machine, which may be of another version.

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    /// Of `nss.h`: replaces a line of `nsswitch.conf` for this process.
    fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
}

/// Must come before the first lookup.
pub fn use_built_in_modules() {
    // SAFETY: both are strings with an end; the library copies what it keeps.
    let code = unsafe { __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr()) };
    debug_assert_eq!(code, 0, "both modules exist");
}

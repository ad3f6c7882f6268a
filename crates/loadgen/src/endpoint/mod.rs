//! The server under load: its URLs and addresses.

pub mod addresses;
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
mod static_names;
pub mod url;

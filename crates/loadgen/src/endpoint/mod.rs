//! The server under load: its URLs and addresses.

pub mod addresses;
pub mod sources;
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
mod static_names;
pub mod url;

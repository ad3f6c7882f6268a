//! Where requests go.

pub mod addresses;
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
mod static_names;
pub mod url;

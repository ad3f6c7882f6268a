//! Where requests go.

pub mod addresses;
pub mod url;

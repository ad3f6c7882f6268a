//! The addresses that sockets connect to.

use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use socket2::SockAddr;

/// One or more alternative addresses of a server.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// The host as the user entered it.
    name: String,
    all: Vec<SockAddr>,
}

impl Addresses {
    pub fn new(name: String, all: Vec<SockAddr>) -> Result<Self> {
        if all.is_empty() {
            bail!("the host `{name}` has no address");
        }
        Ok(Self { name, all })
    }

    pub fn unix(path: &Path) -> Result<Self> {
        let address = SockAddr::unix(path).with_context(|| format!("`{}` is not a valid socket path", path.display()))?;
        Ok(Self { name: path.display().to_string(), all: vec![address] })
    }

    /// Returns the first address. Either all addresses are Unix sockets, or all are TCP addresses.
    pub fn preferred(&self) -> &SockAddr {
        &self.all[0]
    }

    /// Returns the first address that accepts a connection within `timeout`. If there is only one address, returns it without a test,
    /// because the run itself reports connection failures.
    pub fn first_that_accepts(&self, timeout: Duration) -> Result<&SockAddr> {
        let [_, _, ..] = &self.all[..] else { return Ok(self.preferred()) };
        let mut failures = Vec::new();
        for address in &self.all {
            let Some(target) = address.as_socket() else { return Ok(address) };
            match TcpStream::connect_timeout(&target, timeout) {
                Ok(_) => return Ok(address),
                Err(error) => failures.push(format!("{target}: {error}")),
            }
        }
        bail!("cannot connect to {}: all addresses failed: {}; hint: check that the server is running", self.name, failures.join(", "))
    }
}

/// Formats an address as `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`.
pub fn describe(address: &SockAddr) -> String {
    match (address.as_socket(), address.as_pathname()) {
        (Some(address), _) => address.to_string(),
        (None, Some(path)) => format!("unix:{}", path.display()),
        (None, None) => "unix:".to_owned(), // an abstract socket has no path
    }
}

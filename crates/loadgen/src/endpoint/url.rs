//! Parses and resolves URLs.

use std::net::ToSocketAddrs;

use anyhow::{Context, Result, bail};
use socket2::SockAddr;

use super::addresses::Addresses;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

impl Scheme {
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// The parts of an `http` or `https` URL that a client needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub scheme: Scheme,
    /// The host, without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
    /// Path and query, starting with `/`.
    pub path: String,
}

impl Url {
    pub fn parse(text: &str) -> Result<Self> {
        let (scheme, rest) = match text.split_once("://") {
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(("https", rest)) => (Scheme::Https, rest),
            Some((other, _)) => bail!("`{other}` is not supported; use http or https"),
            None => bail!("`{text}` is not a URL; write http://host:port/path"),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(authority_end);
        if authority.contains('@') {
            bail!("the URL contains a user name; use -H 'Authorization: …' instead");
        }
        if let Some(bad) = path.chars().find(|c| c.is_ascii_control() || *c == ' ' || !c.is_ascii()) {
            bail!("the URL contains {bad:?}; percent-encode it");
        }
        let (host, port) = split_authority(authority)?;
        let default_port = if scheme == Scheme::Http { 80 } else { 443 };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { scheme, host, port: port.unwrap_or(default_port), path })
    }

    /// Returns the value of the `Host` header field. Omits the port if it is the scheme's default.
    pub fn host_header(&self) -> String {
        let default_port = if self.scheme == Scheme::Http { 80 } else { 443 };
        if self.port == default_port { self.bracketed_host() } else { self.authority() }
    }

    /// Returns `host:port`, as needed for CONNECT.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.bracketed_host(), self.port)
    }

    fn bracketed_host(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }

    /// Resolves the host. The addresses are in the system's order of preference.
    pub fn resolve(&self) -> Result<Addresses> {
        #[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
        super::static_names::use_built_in_modules();
        let found =
            (self.host.as_str(), self.port).to_socket_addrs().with_context(|| format!("cannot resolve the host `{}`", self.host))?;
        let mut all: Vec<SockAddr> = Vec::new();
        for address in found.map(SockAddr::from) {
            if !all.contains(&address) {
                all.push(address);
            }
        }
        Addresses::new(self.authority(), all)
    }
}

fn split_authority(authority: &str) -> Result<(String, Option<u16>)> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']').context("the IPv6 address has no closing `]`")?;
        (host, after.strip_prefix(':').or(if after.is_empty() { None } else { Some(after) }))
    } else {
        match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    if host.is_empty() {
        bail!("the URL has no host");
    }
    let port = port.map(|port| port.parse::<u16>().with_context(|| format!("`{port}` is not a valid port"))).transpose()?;
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_urls() {
        let parts = |text| Url::parse(text).map(|url| (url.host_header(), url.port, url.path)).map_err(|error| error.to_string());
        assert_eq!(parts("http://a"), Ok(("a".into(), 80, "/".into())));
        assert_eq!(parts("https://a:8443/x?y=1#z"), Ok(("a:8443".into(), 8443, "/x?y=1".into())));
        assert_eq!(parts("http://[::1]:8080?q"), Ok(("[::1]:8080".into(), 8080, "/?q".into())));
        for bad in ["a", "ftp://a", "http://", "http://a:b", "http://a:70000", "http://[::1", "http://[::1]x", "http://u@a", "http://a/b c"]
        {
            assert!(parts(bad).is_err(), "{bad}");
        }
    }
}

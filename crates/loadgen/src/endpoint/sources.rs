//! The local addresses that connections start from. A local address has a limited number of ports, so tens of thousands of connections to
//! one server need several addresses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};

/// Maximum number of addresses in one range.
const ADDRESSES_MAX: u128 = 4096;
/// Share of an address's ports that the load generator uses. Finding a free port takes long if there are only a few.
const PORTS_SHARE: f64 = 0.75;

/// Local addresses that connections use in turn. If there are none, the system selects the address.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    addresses: Arc<[IpAddr]>,
    turns: Arc<AtomicUsize>,
}

impl Sources {
    fn new(addresses: Vec<IpAddr>) -> Self {
        Self { addresses: addresses.into(), turns: Arc::default() }
    }

    /// Returns the source addresses for a number of connections to `server`.
    ///
    /// If the user selected none and the system's choice has too few ports, these are further addresses of the loopback interface.
    ///
    /// Fails if a selected address isn't local or if there are too few ports.
    pub fn select(ranges: &[SourceRange], connections: u32, server: Option<SocketAddr>) -> Result<Self> {
        let Some(server) = server else {
            if !ranges.is_empty() {
                bail!("--source-addresses requires a TCP server, not a Unix socket");
            }
            return Ok(Self::default());
        };
        let connections = u64::from(connections);
        let ports = ports();
        if !ranges.is_empty() {
            let addresses: Vec<IpAddr> = ranges.iter().flat_map(SourceRange::addresses).collect();
            for address in &addresses {
                if address.is_ipv4() != server.is_ipv4() {
                    bail!("--source-addresses: {address} cannot connect to {server}; use addresses of the same IP version");
                }
                TcpListener::bind((*address, 0))
                    .with_context(|| format!("--source-addresses: {address} is not an address of this machine"))?;
            }
            let found = addresses.len() as u64;
            if found * ports < connections {
                bail!(
                    "{connections} connections require {} source addresses, because each has {ports} ports (net.ipv4.ip_local_port_range), \
                     but --source-addresses lists {found}",
                    connections.div_ceil(ports)
                );
            }
            return Ok(Self::new(addresses));
        }
        if connections <= ports {
            return Ok(Self::default());
        }
        if !matches!(server.ip(), IpAddr::V4(address) if address.is_loopback()) {
            bail!(
                "{connections} connections require {} source addresses, because each has {ports} ports (net.ipv4.ip_local_port_range); \
                 hint: list addresses of this machine with --source-addresses",
                connections.div_ceil(ports)
            );
        }
        let count = connections.div_ceil((ports as f64 * PORTS_SHARE).max(1.0) as u64);
        let first = u32::from(Ipv4Addr::new(127, 0, 0, 2));
        Ok(Self::new((first..).take(count as usize).map(|bits| IpAddr::V4(bits.into())).collect()))
    }

    /// Returns the address of the next connection, or `None` if the system selects it.
    pub fn next(&self) -> Option<IpAddr> {
        if self.addresses.is_empty() {
            return None;
        }
        Some(self.addresses[self.turns.fetch_add(1, Ordering::Relaxed) % self.addresses.len()])
    }

    /// Returns all addresses. The list is empty if the system selects the address.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }
}

/// Returns how many ports the system selects from.
fn ports() -> u64 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut bounds = range.split_whitespace().map_while(|bound| bound.parse::<u64>().ok());
    match (bounds.next(), bounds.next()) {
        (Some(low), Some(high)) if low <= high => high - low + 1,
        _ => 28_232, // the kernel's default
    }
}

/// One address, or all addresses from a first to a last one, such as `127.0.0.2-127.0.0.9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRange {
    first: IpAddr,
    count: u128,
}

impl SourceRange {
    fn addresses(&self) -> impl Iterator<Item = IpAddr> + use<> {
        let first = self.first;
        (0..self.count).map(move |offset| match first {
            IpAddr::V4(address) => IpAddr::V4((u32::from(address) + offset as u32).into()),
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) + offset).into()),
        })
    }
}

impl FromStr for SourceRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse =
            |one: &str| one.parse::<IpAddr>().map_err(|_| format!("`{one}` is not an IP address; write 10.0.0.2 or 10.0.0.2-10.0.0.9"));
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (parse(first)?, parse(last)?);
        let beyond = match (first, last) {
            (IpAddr::V4(first), IpAddr::V4(last)) => u128::from(u32::from(last)).checked_sub(u32::from(first).into()),
            (IpAddr::V6(first), IpAddr::V6(last)) => u128::from(last).checked_sub(u128::from(first)),
            _ => return Err(format!("`{text}` is a range from one IP version to another")),
        };
        match beyond {
            None => Err(format!("`{text}` goes down; write {last}-{first}")),
            Some(beyond) if beyond >= ADDRESSES_MAX => Err(format!("`{text}` has more than {ADDRESSES_MAX} addresses")),
            Some(beyond) => Ok(Self { first, count: beyond + 1 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> Option<SocketAddr> {
        Some(text.parse().expect("an address"))
    }

    fn ranges(text: &str) -> Vec<SourceRange> {
        text.split(',').map(|one| one.parse().expect("a range")).collect()
    }

    fn problem(ranges: &[SourceRange], connections: u32, server: Option<SocketAddr>) -> String {
        format!("{:#}", Sources::select(ranges, connections, server).expect_err("a problem"))
    }

    #[test]
    fn connections_use_the_addresses_in_turn() {
        let sources = Sources::select(&ranges("127.0.0.2-127.0.0.3,127.0.0.9"), 3, server("127.0.0.1:80")).expect("sources");
        let turns: Vec<String> = (0..4).filter_map(|_| sources.next()).map(|address| address.to_string()).collect();
        assert_eq!(turns, ["127.0.0.2", "127.0.0.3", "127.0.0.9", "127.0.0.2"]);
    }

    #[test]
    fn the_loopback_interface_has_as_many_addresses_as_connections_need() {
        let few = Sources::select(&[], 64, server("127.0.0.1:80")).expect("sources");
        assert_eq!((few.next(), few.addresses().len()), (None, 0));
        let many = Sources::select(&[], 300_000, server("127.0.0.1:80")).expect("sources");
        assert!(many.addresses().len() as u64 * ports() >= 300_000);
        assert_eq!(many.next().map(|address| address.to_string()).as_deref(), Some("127.0.0.2"));
    }

    #[test]
    fn other_servers_need_selected_addresses() {
        let said = problem(&[], 300_000, server("192.0.2.1:80"));
        assert!(said.contains("300000 connections require") && said.contains("--source-addresses"), "{said}");
        let said = problem(&ranges("127.0.0.2"), 300_000, server("127.0.0.1:80"));
        assert!(said.contains("--source-addresses lists 1"), "{said}");
    }

    #[test]
    fn addresses_that_cannot_be_used_are_refused() {
        assert!(problem(&ranges("192.0.2.7"), 1, server("127.0.0.1:80")).contains("192.0.2.7 is not an address of this machine"));
        assert!(problem(&ranges("127.0.0.2"), 1, server("[::1]:80")).contains("same IP version"));
        assert!(problem(&ranges("127.0.0.2"), 1, None).contains("not a Unix socket"));
    }

    #[test]
    fn wrong_ranges_are_refused() {
        for (text, problem) in [
            ("127.0.0", "`127.0.0` is not an IP address"),
            ("127.0.0.9-127.0.0.2", "write 127.0.0.2-127.0.0.9"),
            ("127.0.0.1-::1", "from one IP version to another"),
            ("10.0.0.0-10.255.0.0", "more than 4096 addresses"),
        ] {
            let said = text.parse::<SourceRange>().expect_err("a problem");
            assert!(said.contains(problem), "{said}");
        }
        assert_eq!("::1".parse(), Ok(SourceRange { first: "::1".parse().expect("an address"), count: 1 }));
    }
}

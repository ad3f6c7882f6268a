//! The report that a person reads.

use std::io::{self, Write};

use crate::result::RunResult;
use crate::summary::Distribution;

/// From this share of a CPU on we say that the generator was the limit.
const BUSY: f64 = 0.95;

pub fn print(result: &RunResult, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let config = &result.config;
    writeln!(out, "{} {}, {} loop", config.method, config.urls.join(" "), config.r#loop)?;
    writeln!(
        out,
        "  {} connections, {} threads, pipeline {}, {:.2} s, {}",
        config.connections, config.threads, config.pipeline, result.duration_s, result.generator.engine
    )?;
    writeln!(
        out,
        "\n  {:>12} requests/s    {:>10}/s received",
        format_count(result.throughput_rps),
        format_bytes(result.throughput_bytes_per_s)
    )?;
    writeln!(out)?;
    print_distributions(result, out)?;
    writeln!(out)?;
    print_counts(result, out)?;
    writeln!(out, "  {}", limit(result))?;
    if result.interrupted {
        writeln!(out, "  interrupted: the figures are those of the time until then")?;
    }
    Ok(())
}

fn print_distributions(result: &RunResult, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(
        out,
        "  {:<14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"
    )?;
    let rows = [
        ("response time", result.response_time_us.as_ref()),
        ("service time", Some(&result.service_time_us)),
        ("schedule lag", result.schedule_lag_us.as_ref()),
        ("connect time", Some(&result.connect_time_us)),
    ];
    for (name, distribution) in rows {
        if let Some(Distribution { min, mean, p50, p90, p99, p99_9, p99_99, max, .. }) = distribution {
            let figures = [min, mean, p50, p90, p99, p99_9, p99_99, max].map(|value| format!("{:>9}", format_us(*value)));
            writeln!(out, "  {name:<14} {}", figures.join(" "))?;
        }
    }
    Ok(())
}

fn print_counts(result: &RunResult, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let requests = &result.requests;
    writeln!(
        out,
        "  {} sent, {} completed, {} right, {} in flight at the end",
        requests.sent, requests.completed, requests.ok, requests.in_flight
    )?;
    if let Some(offered) = requests.offered {
        writeln!(out, "  {offered} offered, {} never sent because no connection was free", requests.unsent)?;
    }
    let errors = serde_json::to_value(result.errors).unwrap_or_default();
    let named: Vec<_> = errors
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, count)| **count != 0)
        .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
        .collect();
    writeln!(out, "  errors: {}", if named.is_empty() { "none".to_owned() } else { named.join(", ") })
}

/// What kept the figures from being better, as far as it can be seen from here.
fn limit(result: &RunResult) -> String {
    let busy = result.generator.busy;
    let percent = busy * 100.0;
    if busy >= BUSY {
        format!("limited by the generator: its busiest thread used {percent:.0} % of a CPU; give it more threads with -t")
    } else if result.requests.unsent > 0 {
        format!("limited by the server: it did not keep up with the schedule (busiest generator thread: {percent:.0} % of a CPU)")
    } else {
        format!("busiest generator thread: {percent:.0} % of a CPU, so the generator was not the limit")
    }
}

/// `123.4 us`, `5.678 ms`, `1.234 s`; `-` where there is no figure.
pub fn format_us(value_us: Option<f64>) -> String {
    match value_us {
        None => "-".to_owned(),
        Some(us) if us < 1e3 => format!("{us:.1}us"),
        Some(us) if us < 1e6 => format!("{:.2}ms", us / 1e3),
        Some(us) => format!("{:.2}s", us / 1e6),
    }
}

/// A number with commas between thousands, without decimals.
pub fn format_count(value: f64) -> String {
    let digits = format!("{value:.0}");
    let first = digits.len() % 3;
    let groups: Vec<_> = std::iter::once(&digits[..first])
        .filter(|group| !group.is_empty())
        .chain((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]))
        .collect();
    groups.join(",")
}

fn format_bytes(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e9 => format!("{:.2} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.2} MB", bytes / 1e6),
        bytes => format!("{:.2} kB", bytes / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_easy_to_read() {
        let counts = [0.0, 999.0, 1000.0, 123_456.7, 1_234_567.0].map(format_count);
        assert_eq!(counts, ["0", "999", "1,000", "123,457", "1,234,567"]);
        assert_eq!([None, Some(12.34), Some(1234.0), Some(2.5e6)].map(format_us), ["-", "12.3us", "1.23ms", "2.50s"]);
    }
}

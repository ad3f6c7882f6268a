//! The text report on stdout.

use std::io::{self, Write};

use crate::figures::distribution::Distribution;
use crate::figures::result::RunResult;

/// The load generator counts as the bottleneck if it is busy for at least this share of the window. Time during which a thread waited for a
/// CPU counts as busy.
const BUSY: f64 = 0.95;
/// The load generator counts as held back if one of its threads was stopped, or was ready but had no CPU, for at least this share of the
/// window.
const HELD_BACK: f64 = 0.05;

/// The server and the load generator count as sharing a CPU if the server ran on the generator's CPU for at least this share of the window.
const SHARED: f64 = 0.25;

/// Maximum length of a line, unless a single item is longer.
const WIDTH: usize = 79;

pub fn print(result: &RunResult, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    print_config(result, out)?;
    let (throughput, unit) = match &result.events {
        Some(events) => (events.per_s, "events/s  "),
        None => (result.throughput_rps, "requests/s"),
    };
    writeln!(out, "\n  {:>12} {unit}    {:>10}/s received\n", format_count(throughput), format_bytes(result.throughput_bytes_per_s))?;
    print_distributions(result, out)?;
    print_parts(result, out)?;
    writeln!(out)?;
    print_counts(result, out)?;
    writeln!(out, "  {}", limit(result))?;
    if result.interrupted {
        writeln!(out, "  interrupted; the results cover the time until then")?;
    }
    if let Some(failure) = &result.failure {
        writeln!(out, "  {failure}\n  the results cover the time until then")?;
    }
    Ok(())
}

fn print_config(result: &RunResult, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let config = &result.config;
    writeln!(out, "{} {}, {} loop", config.method, config.urls.join("\n    "), config.r#loop)?;
    writeln!(
        out,
        "  {}, {}, {}, pipeline {}, {}",
        format_duration(result.duration_s),
        counted(config.connections, "connection"),
        counted(config.threads, "thread"),
        config.pipeline,
        result.generator.engine
    )?;
    match &config.congestion_control {
        Some(name) => writeln!(out, "  to {}, congestion control {name}", config.address)?,
        None => writeln!(out, "  to {}", config.address)?,
    }
    match &result.generator.engine_fallback {
        Some(reason) => writeln!(out, "  epoll instead of io_uring: {reason}"),
        None => Ok(()),
    }
}

fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn print_distributions(result: &RunResult, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let names = ["min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"].map(|name| format!("{name:>8}"));
    writeln!(out, "  {:<13}{}", "", names.concat())?;
    let latency = result.response_time_us.as_ref().unwrap_or(&result.service_time_us);
    let events = result.events.as_ref();
    let rows = [
        ("first event", events.map(|events| &events.first_us)),
        ("between", events.map(|events| &events.between_us)),
        ("first byte", Some(&result.first_byte_us).filter(|times| *times != latency)),
        ("response time", result.response_time_us.as_ref()),
        ("service time", Some(&result.service_time_us)),
        ("schedule lag", result.schedule_lag_us.as_ref()),
        ("  connection", result.connection_wait_us.as_ref()),
        ("  generator", result.generator_lag_us.as_ref()),
        ("connect time", Some(&result.connect_time_us)),
    ];
    for (name, distribution) in rows {
        let is_shown = |times: &&Distribution| times.count > 0 || events.is_none();
        if let Some(Distribution { min, mean, p50, p90, p99, p99_9, p99_99, max, .. }) = distribution.filter(is_shown) {
            let figures = [min, mean, p50, p90, p99, p99_9, p99_99, max].map(|value| format!("{:>8}", format_us(*value)));
            writeln!(out, "  {name:<13}{}", figures.concat())?;
        }
    }
    Ok(())
}

/// Prints one line per part of a mix.
fn print_parts(result: &RunResult, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    if !result.parts.is_empty() {
        writeln!(out, "\n  {:>12}{:>8}{:>8}{:>10}{:>8}  request", "requests/s", "p50", "p99", "sent", "errors")?;
    }
    for part in &result.parts {
        let (rate, p50, p99) = (format_count(part.throughput_rps), format_us(part.time_us.p50), format_us(part.time_us.p99));
        writeln!(out, "  {rate:>12}{p50:>8}{p99:>8}{:>10}{:>8}  {}", part.sent, part.errors, part.name)?;
    }
    Ok(())
}

fn print_counts(result: &RunResult, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let requests = &result.requests;
    let counts = [(requests.sent, "sent"), (requests.completed, "completed"), (requests.ok, "correct")];
    let counts = counts.into_iter().chain([(requests.in_flight, "in flight at the end")]);
    print_list("requests", counts.map(|(count, name)| format!("{count} {name}")).collect(), out)?;
    let others = [
        (requests.unprocessed, "unprocessed (reported by the server)"),
        (result.censored, "censored (lower bound)"),
        (result.idle_closed, "idle connections closed by the server"),
    ];
    let others: Vec<_> = others.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    if !others.is_empty() {
        print_list("also", others, out)?;
    }
    if let Some(events) = &result.events {
        let lost = match events.lost {
            Some(lost) => format!("{lost} lost in {} numbered streams", events.numbered_streams),
            None => "lost events unknown (no ascending ids)".to_owned(),
        };
        print_list("events", vec![format!("{} in {} streams", events.count, events.streams), lost], out)?;
    }
    if let Some(offered) = requests.offered {
        print_list("schedule", vec![format!("{offered} offered"), format!("{} unsent (no free connection)", requests.unsent)], out)?;
    }
    if let Some(handshakes) = result.tls_handshakes {
        let cipher = handshakes.cipher.map_or_else(String::new, |cipher| format!(", {cipher}"));
        writeln!(out, "  TLS handshakes: {} full, {} resumed{cipher}", handshakes.full, handshakes.resumed)?;
    }
    let errors = serde_json::to_value(result.errors).unwrap_or_default();
    let named: Vec<_> = errors
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, count)| **count != 0)
        .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
        .collect();
    print_list("errors", if named.is_empty() { vec!["none".to_owned()] } else { named }, out)?;
    if result.errors.unexpected_content_type > 0 {
        writeln!(out, "  hint: `curl -iN URL` shows the response; --sse expects Content-Type: text/event-stream")?;
    }
    if result.errors.unexpected_status > 0 {
        writeln!(out, "  hint: show the response with `curl -i URL`, or set --expect-status")?;
    }
    match &result.connect_failure {
        Some(reason) => writeln!(out, "  last failure to connect: {reason}"),
        None => Ok(()),
    }
}

/// Prints `  name: a, b, c`, wrapped if necessary.
fn print_list(name: &str, items: Vec<String>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut line = format!("  {name}: ");
    let last = items.len().saturating_sub(1);
    for (at, item) in items.iter().enumerate() {
        let item = format!("{item}{}", if at == last { "" } else { ", " });
        if line.len() + item.trim_end().len() > WIDTH {
            writeln!(out, "{}", line.trim_end())?;
            line = "    ".to_owned();
        }
        line.push_str(&item);
    }
    writeln!(out, "{}", line.trim_end())
}

/// Returns a note about what limited the throughput, as far as the load generator can tell.
fn limit(result: &RunResult) -> String {
    let generator = &result.generator;
    let (stalled_s, waiting) = (generator.stalled_us / 1e6, generator.waiting.unwrap_or(0.0));
    let percent = generator.busy * 100.0;
    if result.requests.completed == 0 && result.events.as_ref().is_none_or(|events| events.count == 0) {
        "no response".to_owned()
    } else if stalled_s >= HELD_BACK * result.duration_s {
        format!("generator-bound: it was stopped for {stalled_s:.2} s; hint: check for throttling")
    } else if let Some(share) = generator.shared_cpu.filter(|share| *share >= SHARED) {
        format!("generator and server shared a CPU {:.0}% of the time; hint: pin both (--cpus)", share * 100.0)
    } else if waiting >= HELD_BACK {
        format!("generator-bound: no CPU for {:.0}% of the time; hint: reserve a CPU (--cpus)", waiting * 100.0)
    } else if generator.busy + waiting >= BUSY {
        format!("generator-bound: busiest thread {percent:.0}% of a CPU; hint: add threads (-t)")
    } else if result.requests.unsent > 0 && result.config.sse {
        "behind the schedule: each open stream occupies a connection; hint: add connections (-c)".to_owned()
    } else if result.requests.unsent > 0 {
        format!("server-bound: behind the schedule; busiest generator thread {percent:.0}% of a CPU")
    } else {
        format!("busiest generator thread {percent:.0}% of a CPU; the generator was not the limit")
    }
}

/// Formats a time as `123.4us`, `5.68ms` or `1.23s`, in at most seven characters; `-` for a missing value.
pub fn format_us(value_us: Option<f64>) -> String {
    match value_us {
        None => "-".to_owned(),
        Some(us) if us < 999.95 => format!("{us:.1}us"),
        Some(us) if us < 99_995.0 => format!("{:.2}ms", us / 1e3),
        Some(us) if us < 999_950.0 => format!("{:.1}ms", us / 1e3),
        Some(us) if us < 99_995_000.0 => format!("{:.2}s", us / 1e6),
        Some(us) => format!("{:.0}s", us / 1e6),
    }
}

/// Formats the length of the window. Only a run with a number of requests is shorter than 0.1 s.
fn format_duration(duration_s: f64) -> String {
    if duration_s < 0.1 { format!("{:.2} ms", duration_s * 1e3) } else { format!("{duration_s:.2} s") }
}

/// Formats a number as an integer with thousands separators, such as `1,234,567`.
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
    fn formats_counts_and_times() {
        let counts = [0.0, 999.0, 1000.0, 123_456.7, 1_234_567.0].map(format_count);
        assert_eq!(counts, ["0", "999", "1,000", "123,457", "1,234,567"]);
        assert_eq!([None, Some(12.34), Some(1234.0), Some(2.5e6)].map(format_us), ["-", "12.3us", "1.23ms", "2.50s"]);
        for us in [999.94, 999.96, 99_994.0, 99_996.0, 999_949.0, 999_951.0, 99_994_000.0, 99_996_000.0, 86_400e6] {
            assert!(format_us(Some(us)).len() <= 7, "{us}: {}", format_us(Some(us)));
        }
    }

    #[test]
    fn lists_are_wrapped() {
        let mut text = Vec::new();
        let items: Vec<_> = (0..12).map(|at| format!("{at}000000000 some kind")).collect();
        print_list("errors", items.clone(), &mut text).expect("writing to a vector cannot fail");
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(text.lines().all(|line| line.len() <= WIDTH) && text.lines().count() > 2, "{text}");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), format!("errors: {}", items.join(", ")));
    }
}

//! Serves until SIGTERM or SIGINT, then prints the counts.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::panic;
use std::process::{self, ExitCode};
use std::thread;
use std::time::Duration;

use clap::Parser;
use reference::response::body_of;
use reference::{Options, Server};

/// A server to measure HTTP clients against: it serves one path and counts what clients do.
///
/// Prints its URL as a JSON line, {"url": …}. On SIGTERM or SIGINT, prints the counts as a second line and exits.
#[derive(Parser)]
#[command(name = "httpbench-reference", version)]
struct Args {
    /// IP address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// TCP port to listen on; 0 chooses a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The only path answered with status 200; all others get 404.
    #[arg(long, default_value = "/", value_parser = path)]
    path: String,
    /// Body of each response.
    #[arg(long, conflicts_with = "body_bytes")]
    body: Option<String>,
    /// Size of a generated response body, in bytes.
    #[arg(long, default_value_t = 12)]
    body_bytes: usize,
    /// Delay of each response, such as 50ms or 1s.
    #[arg(long, default_value = "0ms", value_parser = duration)]
    delay: Duration,
    /// Number of responses after which the server closes a connection [default: unlimited]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    close_after: Option<u64>,
    /// Number of threads [default: one per available core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    end_at_panics();
    block_signals(); // threads that start later inherit the mask, so only `wait_for_signal` receives the signals
    let address = SocketAddr::new(args.host, args.port);
    let threads = args.threads.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    let body = args.body.map_or_else(|| body_of(args.body_bytes), String::into_bytes);
    let url_path = args.path.clone();
    let options = Options { path: args.path, body, delay: args.delay, close_after: args.close_after, threads };
    let server = match Server::start(address, options) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("error: cannot listen on {address}: {error}");
            return ExitCode::FAILURE;
        }
    };
    say(&serde_json::json!({ "url": format!("http://{}{url_path}", server.address) }));
    wait_for_signal();
    say(&serde_json::to_value(server.counts()).expect("counts can be serialized"));
    ExitCode::SUCCESS
}

/// Ends the program if a thread panics. Otherwise, the program would continue with one thread fewer and would be slower.
fn end_at_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        usual(info);
        process::abort();
    }));
}

/// Prints a line of JSON. Failures are ignored because the reader may be gone. Parts of the line come from clients, so characters that a
/// terminal might interpret are escaped.
fn say(value: &serde_json::Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{}", in_ascii(&value.to_string())).and_then(|()| out.flush());
}

/// Escapes all characters of a JSON document that are control characters or not ASCII.
fn in_ascii(document: &str) -> String {
    let escaped = |character: char| character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    document.chars().map(|character| if matches!(character, ' '..='~') { character.to_string() } else { escaped(character) }).collect()
}

fn path(text: &str) -> Result<String, String> {
    if text.starts_with('/') { Ok(text.to_owned()) } else { Err("a path must start with /".to_owned()) }
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit_ms) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1000),
    };
    let value: u64 = number.parse().map_err(|_| "not a duration; write 50ms or 1s".to_owned())?;
    Ok(Duration::from_millis(value * unit_ms))
}

fn signals() -> libc::sigset_t {
    // SAFETY: `sigemptyset` initializes the set before anything reads it.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigaddset(&mut set, libc::SIGINT);
        set
    }
}

fn block_signals() {
    // SAFETY: the set is valid, and the old set isn't requested.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signals(), std::ptr::null_mut()) };
}

fn wait_for_signal() {
    let mut number = 0;
    // SAFETY: both pointers are valid during the call.
    while unsafe { libc::sigwait(&signals(), &mut number) } != 0 {}
}

//! A minimal HTTP/1.1 server with one thread per connection. Usage: ./server HOST:PORT
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{SystemTime, UNIX_EPOCH};

const BODY: &str = "Hello, World!";
const HEAD_MAX: usize = 16_384;

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).expect("usage: server HOST:PORT");
    for stream in TcpListener::bind(address)?.incoming().flatten() {
        std::thread::spawn(move || serve(stream));
    }
    Ok(())
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut received = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = stream.read(&mut part)?;
        if count == 0 || received.len() > HEAD_MAX {
            return Ok(());
        }
        received.extend_from_slice(&part[..count]);
        // Several requests may arrive together, and one may arrive in parts.
        while let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).to_ascii_lowercase();
            received.drain(..end + 4);
            if !respond(&mut stream, &head)? {
                return Ok(());
            }
        }
    }
}

/// Responds to one request and returns whether the connection stays open: this server closes it instead of reading a body.
fn respond(stream: &mut TcpStream, head: &str) -> std::io::Result<bool> {
    let mut words = head.split_ascii_whitespace();
    let (method, path) = (words.next(), words.next());
    let closing = ["\r\nconnection: close", "\r\ncontent-length:", "\r\ntransfer-encoding:"];
    let keep = !closing.iter().any(|field| head.contains(field));
    let (status, length) = if path == Some("/") { ("200 OK", BODY.len()) } else { ("404 Not Found", 0) };
    let body = if length == 0 || method == Some("head") { "" } else { BODY };
    let close = if keep { "" } else { "Connection: close\r\n" };
    let date = date(SystemTime::now());
    let response = format!(
        "HTTP/1.1 {status}\r\nServer: NAME\r\nDate: {date}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n{close}\r\n{body}"
    );
    stream.write_all(response.as_bytes())?;
    Ok(keep)
}

/// Returns the time in the format of the header `Date`.
fn date(time: SystemTime) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut month, mut day) = (1970, 0, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    let (weekday, month) = (WEEKDAYS[(days % 7) as usize], MONTHS[month]);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{weekday}, {:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT", day + 1)
}

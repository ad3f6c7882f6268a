//! Sends sequential GETs with an attohttpc session, which opens a connection for each request.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use attohttpc::header::CONTENT_LENGTH;
use attohttpc::{Session, StatusCode};

fn main() -> ExitCode {
    let Some((url, requests)) = arguments() else {
        eprintln!("usage: client URL REQUESTS");
        return ExitCode::from(2);
    };
    match fetch(&url, requests) {
        Ok(body_bytes) => {
            println!("{requests} {body_bytes}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{url}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Option<(String, u32)> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [url, requests] = <[String; 2]>::try_from(arguments).ok()?;
    Some((url, requests.parse().ok()?))
}

/// Sends the requests and returns the total size of all bodies, in bytes.
fn fetch(url: &str, requests: u32) -> Result<usize, Box<dyn Error>> {
    let session = Session::new();
    let mut body_bytes = 0;
    for _ in 0..requests {
        let response = session.get(url).send()?;
        let status = response.status();
        let length = response.headers().get(CONTENT_LENGTH).cloned();
        let body = response.bytes()?;
        if status != StatusCode::OK {
            return Err(format!("status {status}, expected 200").into());
        }
        // The library mistakes a body that ends early for a complete one.
        if length.is_some_and(|length| length != body.len().to_string()) {
            return Err("the body ended early".into());
        }
        body_bytes += body.len();
    }
    Ok(body_bytes)
}

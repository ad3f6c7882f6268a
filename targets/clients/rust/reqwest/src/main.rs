//! Sends sequential GETs on one connection, with reqwest's blocking client.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use reqwest::StatusCode;
use reqwest::blocking::Client;

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
    let client = Client::builder().build()?;
    let mut body_bytes = 0;
    for _ in 0..requests {
        let response = client.get(url).send()?;
        let status = response.status();
        body_bytes += response.bytes()?.len();
        if status != StatusCode::OK {
            return Err(format!("status {status}, expected 200").into());
        }
    }
    Ok(body_bytes)
}

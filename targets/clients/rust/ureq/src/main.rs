//! Sends sequential GETs on one connection, with a ureq agent.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use ureq::Agent;
use ureq::http::StatusCode;

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
    let agent = Agent::new_with_defaults();
    let mut body_bytes = 0;
    for _ in 0..requests {
        let mut response = agent.get(url).call()?;
        let status = response.status();
        body_bytes += response.body_mut().read_to_vec()?.len();
        if status != StatusCode::OK {
            return Err(format!("status {status}, expected 200").into());
        }
    }
    Ok(body_bytes)
}

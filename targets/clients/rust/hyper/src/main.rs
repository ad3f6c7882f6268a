//! Sends sequential GETs on one connection, with hyper's HTTP/1 client.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::HOST;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

#[tokio::main]
async fn main() -> ExitCode {
    let Some((url, requests)) = arguments() else {
        eprintln!("usage: client URL REQUESTS");
        return ExitCode::from(2);
    };
    match fetch(&url, requests).await {
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

/// Sends the requests and returns the total size of all bodies, in bytes. If the server closes the connection, opens another.
async fn fetch(url: &str, requests: u32) -> Result<usize, Box<dyn Error>> {
    let uri: Uri = url.parse()?;
    let authority = uri.authority().ok_or("the address has no host")?.as_str();
    let target = uri.path_and_query().ok_or("the address has no path")?.as_str();
    let mut connection = None;
    let mut body_bytes = 0;
    for _ in 0..requests {
        let mut sender = ready(connection.take(), authority).await?;
        let request = Request::get(target).header(HOST, authority).body(Empty::new())?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        body_bytes += response.into_body().collect().await?.to_bytes().len();
        if status != StatusCode::OK {
            return Err(format!("status {status}, expected 200").into());
        }
        connection = Some(sender);
    }
    Ok(body_bytes)
}

async fn ready(connection: Option<SendRequest<Empty<Bytes>>>, authority: &str) -> Result<SendRequest<Empty<Bytes>>, Box<dyn Error>> {
    if let Some(mut sender) = connection
        && sender.ready().await.is_ok()
    {
        return Ok(sender);
    }
    let stream = TcpStream::connect(authority).await?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // This task drives the connection until it ends. Its errors are reported through `sender`.
    tokio::spawn(connection);
    Ok(sender)
}

//! A server that uses actix-http without actix-web: the HTTP/1 dispatcher and one service function, without a router, extractors or
//! per-request timers. There are `WORKERS` threads, each with its own single-threaded runtime.

use std::convert::Infallible;
use std::env;
use std::time::Duration;

use actix_http::body::BoxBody;
use actix_http::header::{CONTENT_TYPE, HeaderValue, SERVER};
use actix_http::{HttpService, KeepAlive, Request, Response};
use actix_server::Server;

async fn answer(request: Request) -> Result<Response<BoxBody>, Infallible> {
    let mut response = match request.path() {
        "/" => Response::ok(),
        _ => return Ok(Response::not_found()),
    };
    let headers = response.headers_mut();
    headers.insert(SERVER, HeaderValue::from_static("actix"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response.set_body(BoxBody::new("Hello, World!")))
}

#[actix_rt::main]
async fn main() -> std::io::Result<()> {
    let address = env::args()
        .nth(1)
        .expect("usage: WORKERS=n server HOST:PORT");
    let workers = env::var("WORKERS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    Server::build()
        .workers(workers)
        .shutdown_timeout(1) // seconds; the default of 30 is longer than the harness waits after SIGTERM
        .bind("http", address, || {
            HttpService::build()
                .keep_alive(KeepAlive::Os)
                .client_request_timeout(Duration::ZERO) // no timeout
                .h1(answer)
                .tcp()
        })?
        .run()
        .await
}

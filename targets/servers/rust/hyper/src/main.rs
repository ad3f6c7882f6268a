//! A server that uses hyper 1 on tokio, with one service function, one task per connection and `WORKERS` threads.
//! hyper adds the Date header. It sends the answers to pipelined requests together only if `pipeline_flush` is set.
//! With a certificate and its key, the server uses HTTPS, if it is built with the feature `tls`.

#[cfg(feature = "tls")]
mod tls;

use std::convert::Infallible;
use std::env;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, SERVER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};

type Error = Box<dyn std::error::Error + Send + Sync>;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

fn json() -> Bytes {
    let message = Message {
        message: "Hello, World!",
    };
    serde_json::to_vec(&message)
        .expect("a text can be serialized")
        .into()
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::default());
    let mut content_type = HeaderValue::from_static("text/plain");
    match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/") => {
            *response.body_mut() = Full::new(Bytes::from_static(b"Hello, World!"))
        }
        (&Method::GET | &Method::HEAD, "/json") => {
            *response.body_mut() = Full::new(json());
            content_type = HeaderValue::from_static("application/json");
        }
        (_, "/" | "/json") => *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED,
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    // hyper omits the body of an answer to HEAD only in HTTP/1.1.
    if request.method() == Method::HEAD {
        let length = std::mem::take(response.body_mut()).size_hint().lower();
        response.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    let headers = response.headers_mut();
    headers.insert(SERVER, HeaderValue::from_static("hyper"));
    headers.insert(CONTENT_TYPE, content_type);
    Ok(response)
}

/// Returns the next connection that can be used.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        // Accepting fails if the client is gone already, or if there are no free descriptors until another connection closes.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        if stream.set_nodelay(true).is_ok() {
            return stream; // otherwise, the client has reset the connection already
        }
    }
}

async fn serve(address: String) -> Result<(), Error> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let stream = accept(&listener).await;
        tokio::spawn(
            http1::Builder::new()
                .pipeline_flush(true)
                .serve_connection(TokioIo::new(stream), service_fn(answer)),
        );
    }
}

fn main() -> Result<(), Error> {
    let mut args = env::args().skip(1);
    let address = args
        .next()
        .expect("usage: WORKERS=n server HOST:PORT [CERT KEY]");
    let certificate = args.next().zip(args.next());
    let workers = env::var("WORKERS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_io()
        .build()?;
    // Spawn the accept loop, so that it runs on a worker thread instead of the main thread.
    runtime.block_on(async {
        match certificate {
            None => tokio::spawn(serve(address)),
            #[cfg(feature = "tls")]
            Some((cert, key)) => tokio::spawn(tls::serve(address, tls::acceptor(&cert, &key)?)),
            #[cfg(not(feature = "tls"))]
            Some(_) => panic!("HTTPS requires the feature tls"),
        }
        .await
        .expect("the accept loop does not panic")
    })
}

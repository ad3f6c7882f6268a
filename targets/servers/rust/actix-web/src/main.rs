//! A server that starts actix-web as its documentation does. There are `WORKERS` threads, each with its own single-threaded runtime and
//! its own connections to the database at `DATABASE_URL`.
//! With a certificate and its key, the server uses HTTPS through rustls, and HTTP/2 with clients that select it by ALPN.

mod tables;

use std::env;
use std::error::Error;

use actix_web::http::header::{CONTENT_TYPE, HeaderValue, SERVER};
use actix_web::{App, HttpResponse, HttpResponseBuilder, HttpServer, Responder, web};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Serialize;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

fn ok() -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.insert_header((SERVER, HeaderValue::from_static("actix-web")));
    response
}

async fn hello() -> impl Responder {
    ok().insert_header((CONTENT_TYPE, HeaderValue::from_static("text/plain")))
        .body("Hello, World!")
}

async fn json() -> impl Responder {
    ok().json(Message {
        message: "Hello, World!",
    })
}

fn tls_config(cert: &str, key: &str) -> Result<ServerConfig, Box<dyn Error>> {
    let certs = CertificateDer::pem_file_iter(cert)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    // actix-web itself offers h2 and http/1.1 by ALPN.
    Ok(ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certs, key)?)
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let address = args
        .next()
        .expect("usage: WORKERS=n server HOST:PORT [CERT KEY]");
    let workers = env::var("WORKERS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let url = env::var("DATABASE_URL").ok();
    let cache = match &url {
        Some(url) => web::Data::new(tables::cache(url).await.expect("the database must be there")),
        None => web::Data::default(),
    };
    let server = HttpServer::new(move || {
        App::new()
            .service(web::resource("/").get(hello).head(hello))
            .service(web::resource("/json").get(json).head(json))
            .configure(|app| {
                if let Some(url) = &url {
                    tables::configure(app, url, cache.clone());
                }
            })
    })
    .workers(workers)
    .shutdown_timeout(1); // seconds; the default of 30 is longer than the harness waits after SIGTERM
    let server = match (args.next(), args.next()) {
        (Some(cert), Some(key)) => server.bind_rustls_0_23(address, tls_config(&cert, &key)?)?,
        _ => server.bind(address)?,
    };
    server.run().await?;
    Ok(())
}

//! A server that starts actix-web as its documentation does. There are `WORKERS` threads, each with its own single-threaded runtime.
//! With the feature `database`, it queries the database at `DATABASE_URL`. With the feature `tls`, and a certificate and its key, it uses
//! HTTPS.

#[cfg(feature = "database")]
mod tables;
#[cfg(feature = "tls")]
mod tls;

use std::env;
use std::error::Error;

use actix_web::http::header::{CONTENT_TYPE, HeaderValue, SERVER};
use actix_web::{App, HttpResponse, HttpResponseBuilder, HttpServer, Responder, web};
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
    #[cfg(feature = "database")]
    let tables = tables::Tables::from_env().await?;
    let server = HttpServer::new(move || {
        let app = App::new()
            .service(web::resource("/").get(hello).head(hello))
            .service(web::resource("/json").get(json).head(json));
        #[cfg(feature = "database")]
        let app = app.configure(|app| tables.configure(app));
        app
    })
    .workers(workers)
    .shutdown_timeout(1); // seconds; the default of 30 is longer than the harness waits after SIGTERM
    let server = match args.next().zip(args.next()) {
        None => server.bind(address)?,
        #[cfg(feature = "tls")]
        Some((cert, key)) => server.bind_rustls_0_23(address, tls::config(&cert, &key)?)?,
        #[cfg(not(feature = "tls"))]
        Some(_) => panic!("HTTPS requires the feature tls"),
    };
    server.run().await?;
    Ok(())
}

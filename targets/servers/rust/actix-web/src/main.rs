//! A server that starts actix-web as its documentation does. There are `WORKERS` threads, each with its own single-threaded runtime and
//! its own connections to the database at `DATABASE_URL`.

mod tables;

use std::env;

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
async fn main() -> std::io::Result<()> {
    let address = env::args()
        .nth(1)
        .expect("usage: WORKERS=n server HOST:PORT");
    let workers = env::var("WORKERS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let url = env::var("DATABASE_URL").ok();
    let cache = match &url {
        Some(url) => web::Data::new(tables::cache(url).await.expect("the database must be there")),
        None => web::Data::default(),
    };
    HttpServer::new(move || {
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
    .shutdown_timeout(1) // seconds; the default of 30 is longer than the harness waits after SIGTERM
    .bind(address)?
    .run()
    .await
}

//! actix-web as its documentation starts it: `WORKERS` threads, each with its own single-threaded runtime.

use std::env;

use actix_web::http::header::{CONTENT_TYPE, HeaderValue, SERVER};
use actix_web::{App, HttpResponse, HttpServer, Responder, web};

async fn hello() -> impl Responder {
    HttpResponse::Ok()
        .insert_header((SERVER, HeaderValue::from_static("actix-web")))
        .insert_header((CONTENT_TYPE, HeaderValue::from_static("text/plain")))
        .body("Hello, World!")
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
    HttpServer::new(|| App::new().service(web::resource("/").get(hello).head(hello)))
        .workers(workers)
        .shutdown_timeout(1) // seconds; its default of 30 would outlast an orderly stop
        .bind(address)?
        .run()
        .await
}

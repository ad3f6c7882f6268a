//! A server that starts Rocket as its documentation does. ROCKET_ADDRESS and ROCKET_PORT set the address, and ROCKET_WORKERS sets the
//! number of threads. The default shield stays on and adds three headers.

use rocket::serde::Serialize;
use rocket::serde::json::Json;
use rocket::{get, launch, routes};

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Message {
    message: &'static str,
}

/// Also answers HEAD.
#[get("/")]
fn hello() -> &'static str {
    "Hello, World!"
}

#[get("/json")]
fn json() -> Json<Message> {
    Json(Message {
        message: "Hello, World!",
    })
}

#[launch]
fn rocket() -> _ {
    rocket::build().mount("/", routes![hello, json])
}

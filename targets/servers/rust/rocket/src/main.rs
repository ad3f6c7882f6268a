//! Rocket as its documentation starts it; where it listens and with how many threads comes from ROCKET_ADDRESS, ROCKET_PORT and
//! ROCKET_WORKERS. The default shield stays on, and adds three headers.

use rocket::serde::Serialize;
use rocket::serde::json::Json;
use rocket::{get, launch, routes};

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Message {
    message: &'static str,
}

/// Answers HEAD too.
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

//! Rocket as its documentation starts it; where it listens and with how many threads comes from ROCKET_ADDRESS, ROCKET_PORT and
//! ROCKET_WORKERS. The default shield stays on, and adds three headers.

use rocket::{get, launch, routes};

/// Answers HEAD too.
#[get("/")]
fn hello() -> &'static str {
    "Hello, World!"
}

#[launch]
fn rocket() -> _ {
    rocket::build().mount("/", routes![hello])
}

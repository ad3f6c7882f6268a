//! Tests of what the load generator sends, accepts, counts and reports. The tests use real sockets.

#[path = "../common/mod.rs"]
mod common;

mod addresses;
mod command;
mod confined;
mod corpus;
mod counts;
mod destinations;
mod documents;
mod early_responses;
mod event_streams;
mod first_response;
mod hostile;
mod http2;
mod laws;
mod mixes;
mod protocols;
mod reconnects;
mod requests;
mod samples;
mod slices;
mod tls_ends;
mod unread;

//! A server whose function burn uses a set share of the server's CPU time: server PORT SHARE.

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Mutex;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, now: *mut Timespec) -> i32;
}

const PROCESS: i32 = 2;
const THREAD: i32 = 3;

static SINK: AtomicU32 = AtomicU32::new(1);
static BURNED_S: Mutex<f64> = Mutex::new(0.0);

fn cpu_s(clock: i32) -> f64 {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(clock, &mut now) };
    now.seconds as f64 + now.nanoseconds as f64 / 1e9
}

#[inline(never)]
fn burn() {
    let mut sink = SINK.load(Relaxed);
    for _ in 0..10_000 + sink % 20_000 {
        sink = black_box(sink.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    }
    SINK.store(sink >> 4, Relaxed);
}

/// Burn until the share is right. The kernel's clock is read outside of burn.
#[inline(never)]
fn pace(share: f64) {
    let mut burned_s = BURNED_S.lock().unwrap();
    while *burned_s < share * cpu_s(PROCESS) {
        let begin_s = cpu_s(THREAD);
        burn();
        *burned_s += cpu_s(THREAD) - begin_s;
    }
}

fn serve(mut client: TcpStream, share: f64) {
    let mut request = [0; 8192];
    while let Ok(length @ 1..) = client.read(&mut request) {
        for _ in request[..length].windows(4).filter(|four| four == b"\r\n\r\n") {
            pace(share);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let share = words[2].parse().unwrap();
    for client in TcpListener::bind(format!("127.0.0.1:{}", words[1])).unwrap().incoming().flatten() {
        std::thread::spawn(move || serve(client, share));
    }
}

//! Tests of addresses, congestion control and CPU pinning.

use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{ENGINES, Nobody, load, serve, serve_bytes, url};
use clap::Parser;
use loadgen::cli::Args;
use loadgen::endpoint::addresses::Addresses;
use loadgen::figures::result::RunResult;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen")).args(args).output().expect("the program starts")
}

fn closed() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port")
}

/// Runs a load against a host that resolves to these addresses, in this order.
fn load_from(addresses: &[SocketAddr], args: &[&str]) -> anyhow::Result<RunResult> {
    let mut plan = Args::try_parse_from(["httpbench-loadgen"].iter().chain(args))?.plan()?;
    plan.addresses = Addresses::new("several.example:80".to_owned(), addresses.iter().copied().map(Into::into).collect())?;
    loadgen::run::run(&plan, &mut Nobody)
}

#[test]
fn the_first_accepting_address_is_used_and_reported() {
    let (server, other) = (serve_bytes(HELLO), serve_bytes(HELLO));
    let nobody = closed();
    let nobody_v6 = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], nobody.port()));
    for engine in ENGINES {
        let args = ["-d", "100ms", "-c", "2", "--engine", engine, &url(server)];
        for addresses in [&[server][..], &[nobody, server], &[nobody_v6, server, other], &[nobody, nobody_v6, server]] {
            let result = load_from(addresses, &args).expect("one of them accepts");
            assert_eq!(result.config.address, server.to_string(), "{addresses:?}");
            assert!(result.requests.ok > 0 && result.errors.total() == 0, "{:?}", result.errors);
        }
        assert_eq!(load_from(&[other, server], &args).expect("both accept").config.address, other.to_string());
    }
}

#[test]
fn if_no_address_accepts_the_error_lists_all_reasons() {
    let (first, second) = (closed(), closed());
    let error = load_from(&[first, second], &["-d", "100ms", &url(first)]).expect_err("nobody listens");
    let text = format!("{error:#}");
    assert!(text.contains("several.example:80") && !text.contains('\n'), "{text}");
    for address in [first, second] {
        assert!(text.contains(&format!("{address}: Connection refused")), "{text}");
    }
}

#[test]
fn connects_to_the_address_of_the_proxy() {
    let proxy = serve_bytes(b"HTTP/1.1 200 OK\r\n\r\n");
    let error = load(&["-d", "100ms", "-c", "1", "--timeout", "300ms", "--proxy", "http://127.0.0.1:1", &url(proxy)]).expect_err("refused");
    assert!(format!("{error:#}").contains("refused"));
    let args = Args::try_parse_from(["x", "--proxy", &url(proxy), "http://192.0.2.1/"]).expect("the options exist");
    let plan = args.plan().expect("the host of the URL isn't resolved when a proxy is used");
    assert_eq!(plan.addresses.preferred().as_socket(), Some(proxy));
}

#[test]
fn unix_sockets_are_reported_without_congestion_control() {
    let path = std::env::temp_dir().join(format!("loadgen-test-{}-named.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket in the temporary directory");
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || while matches!(stream.read(&mut [0; 4096]), Ok(1..)) && stream.write_all(HELLO).is_ok() {});
        }
    });
    for engine in ENGINES {
        let socket = path.to_string_lossy();
        let result =
            load(&["-d", "100ms", "-c", "2", "--engine", engine, "--unix-socket", &socket, "http://local/"]).expect("the run succeeds");
        assert_eq!(result.config.address, format!("unix:{socket}"));
        assert_eq!(result.config.congestion_control, None);
    }
    std::fs::remove_file(&path).expect("the socket exists");
}

#[test]
fn the_selected_congestion_control_is_used_and_reported() {
    let target = url(serve_bytes(HELLO));
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).expect("Linux has it");
    let default = read("tcp_congestion_control");
    for engine in ENGINES {
        let of = |more: &[&str]| {
            let result = load(&[&["-d", "100ms", "-c", "2", "--engine", engine, &target], more].concat()).expect("the run succeeds");
            assert!(result.requests.ok > 0);
            result.config.congestion_control.expect("TCP has one")
        };
        let unchosen = of(&[]);
        assert!(unchosen == if default.starts_with("bbr") { "reno" } else { default.trim() }, "{unchosen}, the system's is {default}");
        for name in read("tcp_allowed_congestion_control").split_whitespace() {
            assert_eq!(of(&["--congestion-control", name]), name);
        }
    }
}

#[test]
fn connections_come_from_the_source_addresses_in_turn() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = url(listener.local_addr().expect("an address"));
    let (peers, seen) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().flatten() {
            let _ = peers.send(stream.peer_addr().expect("a TCP connection").ip().to_string());
            std::thread::spawn(move || while matches!(stream.read(&mut [0; 4096]), Ok(1..)) && stream.write_all(HELLO).is_ok() {});
        }
    });
    for engine in ENGINES {
        let sources = "127.0.0.7-127.0.0.8,127.0.0.5";
        let result =
            load(&["-d", "100ms", "-c", "6", "--engine", engine, "--source-addresses", sources, &target]).expect("the run succeeds");
        assert_eq!(result.config.source_addresses, ["127.0.0.7", "127.0.0.8", "127.0.0.5"]);
        assert_eq!(result.connections_opened, 6);
        let mut peers: Vec<String> = seen.try_iter().collect();
        peers.sort();
        assert_eq!(peers, ["127.0.0.5", "127.0.0.5", "127.0.0.7", "127.0.0.7", "127.0.0.8", "127.0.0.8"]);
    }
}

#[test]
fn an_unavailable_congestion_control_is_an_error_before_the_run() {
    let target = url(serve_bytes(HELLO));
    for name in ["nonesuch", "", "longer-than-any-name-may-be"] {
        let output = run(&["-d", "60s", "--congestion-control", name, &target]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(&format!("congestion control `{name}`")) && stderr.lines().count() == 1, "{stderr}");
    }
}

#[test]
fn the_coordinator_stays_on_the_cpus_of_the_threads() {
    let target = url(serve(|mut stream| while crate::common::read_request(&mut stream) {}));
    // SAFETY: an all-zero set is valid, and sched_getaffinity fills it in.
    let allowed = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set), 0);
        (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect::<Vec<_>>()
    };
    let cpu = allowed.last().expect("there is a CPU").to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"))
        .args(["-d", "30s", "-c", "1", "--cpus", &cpu, "--progress", "json", &target])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let progress = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().expect("stderr is piped")));
    assert!(progress.map_while(Result::ok).any(|line| line.contains("measure")));
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("the run succeeds");
    child.kill().expect("the process is our child");
    child.wait().expect("the process is our child");
    assert!(status.lines().any(|line| line == format!("Cpus_allowed_list:\t{cpu}")), "{status}");
}

#[test]
fn rejects_times_that_histograms_cannot_hold() {
    for args in [&["-d", "25h"][..], &["--timeout", "25h"], &["-d", "20h", "--warmup", "5h"]] {
        let output = run(&[args, &["http://127.0.0.1:1/"]].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("24 hours"), "{args:?}");
    }
    let longest = Duration::from_nanos(loadgen::figures::histogram::LONGEST_NS);
    assert_eq!(longest, Duration::from_secs(24 * 3600));
}

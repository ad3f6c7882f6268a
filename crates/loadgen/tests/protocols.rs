//! TLS, HTTP/2 and CONNECT against servers that speak them.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use common::tls::{certificate, tls_config};
use common::{ENGINES, load, read_request, serve, serve_bytes, url};
use rcgen::{CertifiedKey, KeyPair};
use rustls::{ServerConnection, StreamOwned};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn serve_tls() -> SocketAddr {
    serve_tls_as(&certificate())
}

fn serve_tls_as(certified: &CertifiedKey<KeyPair>) -> SocketAddr {
    let config = tls_config(b"http/1.1", certified);
    serve(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a valid configuration");
        let mut stream = StreamOwned::new(connection, stream);
        let mut request = [0; 4096];
        while let Ok(1..) = stream.read(&mut request) {
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    })
}

#[test]
fn tls_is_spoken_and_certificates_are_checked() {
    let address = serve_tls();
    let https = format!("https://localhost:{}/", address.port());
    for engine in ENGINES {
        let common = ["-c", "2", "-d", "200ms", "--expect-body", "hello", "--engine", engine];
        let result = load(&[&common[..], &["--insecure", &https]].concat()).expect("any certificate will do");
        assert!(result.requests.ok > 10 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
        let error = load(&[&common[..], &[&https]].concat()).expect_err("a certificate that nobody knows");
        assert!(format!("{error:#}").contains("certificate"), "{error:#}");
        let plain = format!("https://{}/", serve_bytes(HELLO));
        assert!(load(&[&common[..], &["-k", "--timeout", "300ms", &plain]].concat()).is_err(), "a server that speaks no TLS");
    }
}

#[test]
fn certificates_are_checked_against_the_roots_and_the_name_that_were_given() {
    let certified = certificate();
    let root = std::env::temp_dir().join(format!("httpbench-loadgen-root-{}.pem", std::process::id()));
    std::fs::write(&root, certified.cert.pem()).expect("the folder for temporary files can be written to");
    let by_number = format!("https://127.0.0.1:{}/", serve_tls_as(&certified).port());
    let file = root.to_string_lossy().into_owned();
    let common = ["-c", "1", "-d", "100ms", "--expect-body", "hello", "--ca-file", &file, &by_number];
    let result = load(&[&common[..], &["--sni", "localhost"]].concat()).expect("the root is known, and the name is correct");
    assert!(result.requests.ok > 5 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
    let error = load(&common).expect_err("the certificate is not of this address");
    assert!(format!("{error:#}").contains("not valid for name"), "{error:#}");
    std::fs::write(&root, "nothing of the kind").expect("the file can be written to");
    let error = load(&[&common[..], &["--sni", "localhost"]].concat()).expect_err("no certificate in it");
    assert!(format!("{error:#}").contains("holds no certificate"), "{error:#}");
    let _ = std::fs::remove_file(&root);
}

/// Serves HTTP/2 with prior knowledge: `hello`, or back what was sent; to HEAD nothing, it resets the stream.
fn serve_http2() -> SocketAddr {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let tasks = tokio::task::LocalSet::new();
        tasks.block_on(&runtime, async move {
            listener.set_nonblocking(true).expect("a socket can be made non-blocking");
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::task::spawn_local(respond_http2(stream));
            }
        });
    });
    address
}

async fn respond_http2(stream: tokio::net::TcpStream) {
    let mut builder = h2::server::Builder::new();
    let Ok(mut connection) = builder.max_concurrent_streams(3).handshake::<_, bytes::Bytes>(stream).await else { return };
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        tokio::task::spawn_local(async move {
            if request.method() == http::Method::HEAD {
                return respond.send_reset(h2::Reason::INTERNAL_ERROR);
            }
            let mut sent = request.into_body();
            let mut body = Vec::new();
            while let Some(Ok(piece)) = sent.data().await {
                body.extend_from_slice(&piece);
                let _ = sent.flow_control().release_capacity(piece.len());
            }
            let body = if body.is_empty() { b"hello".to_vec() } else { body };
            if let Ok(mut stream) = respond.send_response(http::Response::new(()), false) {
                let _ = stream.send_data(body.into(), true);
            }
        });
    }
}

#[test]
fn http2_is_spoken_with_more_requests_than_streams() {
    let address = serve_http2();
    for engine in ENGINES {
        // The server allows three streams: five more requests wait for them.
        let get = ["--http2", "-c", "2", "--pipeline", "8", "-d", "300ms", "--expect-body", "hello", "--engine", engine, &url(address)];
        let result = load(&get).expect("it runs");
        assert!(result.requests.ok > 20 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
        let echo = "x".repeat(100_000);
        let post =
            ["--http2", "-c", "2", "-d", "300ms", "-X", "POST", "--body", &echo, "--expect-body", &echo, "--engine", engine, &url(address)];
        let result = load(&post).expect("it runs");
        assert!(result.requests.ok > 3 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
    }
}

#[test]
fn a_stream_that_is_reset_fails_alone() {
    let address = url(serve_http2());
    for engine in ENGINES {
        let result =
            load(&["--http2", "-c", "1", "--pipeline", "2", "-d", "300ms", "-X", "HEAD", "--engine", engine, &address]).expect("it runs");
        assert!(result.errors.reset > 20 && result.errors.reset == result.errors.total(), "{:?}", result.errors);
        assert!(
            result.requests.completed == 0 && result.connect_time_us.count <= 1,
            "the connection went on: {:?}",
            result.connect_time_us
        );
    }
}

#[test]
fn http2_to_a_server_without_it_is_no_success() {
    for engine in ENGINES {
        let result = load(&["--http2", "-c", "2", "-d", "200ms", "--timeout", "100ms", "--engine", engine, &url(serve_bytes(HELLO))])
            .expect("it connects");
        assert!(result.requests.ok == 0 && result.errors.total() > 0, "{:?}", result.errors);
    }
}

/// A proxy that opens a tunnel for CONNECT, or refuses.
fn serve_proxy(status: &'static str) -> SocketAddr {
    serve(move |mut client| {
        let mut request = Vec::new();
        let mut byte = [0; 1];
        while !request.ends_with(b"\r\n\r\n") {
            match client.read(&mut byte) {
                Ok(1) => request.push(byte[0]),
                _ => return,
            }
        }
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some(target) = text.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next()) else { return };
        let target = target.replace("localhost", "127.0.0.1");
        if client.write_all(format!("HTTP/1.1 {status}\r\n\r\n").as_bytes()).is_err() || !status.starts_with('2') {
            return;
        }
        let Ok(server) = TcpStream::connect(target) else { return };
        let (Ok(mut from_client), Ok(mut to_server)) = (client.try_clone(), server.try_clone()) else { return };
        std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
        let _ = std::io::copy(&mut &server, &mut client);
    })
}

#[test]
fn proxies_are_tunnelled_through() {
    let plain = url(serve_bytes(HELLO));
    let https = format!("https://localhost:{}/", serve_tls().port());
    let (open, closed) = (format!("http://{}", serve_proxy("200 OK")), format!("http://{}", serve_proxy("403 Forbidden")));
    for engine in ENGINES {
        for target in [&plain, &https] {
            let common = ["-c", "2", "-d", "200ms", "-k", "--expect-body", "hello", "--engine", engine, target, "--proxy"];
            let result = load(&[&common[..], &[&open]].concat()).expect("the proxy agrees");
            assert!(result.requests.ok > 10 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
            let error = load(&[&common[..], &[&closed]].concat()).expect_err("the proxy refuses");
            assert!(format!("{error:#}").contains("403"), "{error:#}");
        }
    }
}

#[test]
fn a_proxy_that_only_reads_is_given_up() {
    let silent = format!("http://{}", serve(|mut stream| while read_request(&mut stream) {}));
    let started = std::time::Instant::now();
    assert!(load(&["-c", "2", "-d", "1s", "--timeout", "200ms", "--proxy", &silent, "http://127.0.0.1:9/"]).is_err());
    assert!(started.elapsed() < std::time::Duration::from_secs(2));
}

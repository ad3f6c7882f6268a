//! Tests of TLS, HTTP/2 and CONNECT against real implementations.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use crate::common::tls::{authority, certificate, tls_config};
use crate::common::{ENGINES, load, read_request, scratch, serve, serve_bytes, url};
use loadgen::figures::errors::ErrorKind;
use loadgen::run::NotStarted;
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
fn tls_works_and_certificates_are_verified() {
    let address = serve_tls();
    let https = format!("https://localhost:{}/", address.port());
    for engine in ENGINES {
        let common = ["-c", "2", "-d", "200ms", "--expect-body", "hello", "--engine", engine];
        let result = load(&[&common[..], &["--insecure", &https]].concat()).expect("any certificate is accepted");
        assert!(result.requests.ok > 10 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
        let error = load(&[&common[..], &[&https]].concat()).expect_err("an unknown certificate is rejected");
        assert!(format!("{error:#}").contains("certificate"), "{error:#}");
        let plain = format!("https://{}/", serve_bytes(HELLO));
        assert!(load(&[&common[..], &["-k", "--timeout", "300ms", &plain]].concat()).is_err(), "a server without TLS");
    }
}

#[test]
fn certificates_are_verified_with_the_given_roots_and_name() {
    let certified = certificate();
    let root = scratch("root.pem");
    std::fs::write(&root, certified.cert.pem()).expect("the temporary folder is writable");
    let by_number = format!("https://127.0.0.1:{}/", serve_tls_as(&certified).port());
    let file = root.to_string_lossy().into_owned();
    let common = ["-c", "1", "-d", "100ms", "--expect-body", "hello", "--ca-file", &file, &by_number];
    let result = load(&[&common[..], &["--sni", "localhost"]].concat()).expect("the root is trusted and the name matches");
    assert!(result.requests.ok > 5 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
    let error = load(&common).expect_err("the certificate is for a different name");
    assert!(format!("{error:#}").contains("not valid for name"), "{error:#}");
    std::fs::write(&root, "nothing of the kind").expect("the file is writable");
    let error = load(&[&common[..], &["--sni", "localhost"]].concat()).expect_err("the file contains no certificate");
    assert!(format!("{error:#}").contains("contains no certificate"), "{error:#}");
    let _ = std::fs::remove_file(&root);
}

#[test]
fn a_trusted_authority_may_be_the_server_itself() {
    let root = scratch("authority.pem");
    let file = root.to_string_lossy().into_owned();
    let attempt = |certified: &CertifiedKey<KeyPair>, name: &str| {
        std::fs::write(&root, certified.cert.pem()).expect("the temporary folder is writable");
        let address = format!("https://127.0.0.1:{}/", serve_tls_as(certified).port());
        load(&["-c", "1", "-d", "100ms", "--ca-file", &file, "--sni", name, &address])
    };
    let valid = authority(4000);
    let result = attempt(&valid, "localhost").expect("it is among the roots");
    assert!(result.requests.ok > 5 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
    let error = attempt(&valid, "other").expect_err("the certificate is for a different name");
    assert!(format!("{error:#}").contains("not valid for name"), "{error:#}");
    let error = attempt(&authority(2000), "localhost").expect_err("the certificate has expired");
    assert!(format!("{error:#}").contains("expired"), "{error:#}");
    let unknown = format!("https://127.0.0.1:{}/", serve_tls_as(&authority(4000)).port());
    std::fs::write(&root, valid.cert.pem()).expect("the file is writable");
    let error = load(&["-c", "1", "-d", "100ms", "--ca-file", &file, "--sni", "localhost", &unknown]).expect_err("a different authority");
    assert!(format!("{error:#}").contains("certificate"), "{error:#}");
    let _ = std::fs::remove_file(&root);
}

/// Starts an HTTP/2 server for clients with prior knowledge. The server responds with the request's body, or with `hello` if the body is
/// empty. It resets the streams of HEAD requests.
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
fn http2_works_with_more_requests_than_streams() {
    let address = serve_http2();
    for engine in ENGINES {
        // The server allows three streams per connection, so five of the eight requests wait.
        let get = ["--http2", "-c", "2", "--pipeline", "8", "-d", "300ms", "--expect-body", "hello", "--engine", engine, &url(address)];
        let result = load(&get).expect("the run succeeds");
        assert!(result.requests.ok > 20 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
        let echo = "x".repeat(100_000);
        let post =
            ["--http2", "-c", "2", "-d", "300ms", "-X", "POST", "--body", &echo, "--expect-body", &echo, "--engine", engine, &url(address)];
        let result = load(&post).expect("the run succeeds");
        assert!(result.requests.ok > 3 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
    }
}

#[test]
fn a_reset_stream_fails_only_its_request() {
    let address = url(serve_http2());
    for engine in ENGINES {
        let result = load(&["--http2", "-c", "1", "--pipeline", "2", "-d", "300ms", "-X", "HEAD", "--engine", engine, &address])
            .expect("the run succeeds");
        assert!(result.errors.reset > 20 && result.errors.reset == result.errors.total(), "{:?}", result.errors);
        assert!(
            result.requests.completed == 0 && result.connect_time_us.count <= 1,
            "the connection must be kept: {:?}",
            result.connect_time_us
        );
    }
}

#[test]
fn http2_fails_with_a_server_that_does_not_support_it() {
    for engine in ENGINES {
        let result = load(&["--http2", "-c", "2", "-d", "200ms", "--timeout", "100ms", "--engine", engine, &url(serve_bytes(HELLO))])
            .expect("the run succeeds");
        assert!(result.requests.ok == 0 && result.errors.total() > 0, "{:?}", result.errors);
    }
}

/// Starts a proxy that responds to CONNECT with `status`. The proxy opens a tunnel if the status begins with 2.
pub fn serve_proxy(status: &'static str) -> SocketAddr {
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
fn requests_are_tunneled_through_proxies() {
    let plain = url(serve_bytes(HELLO));
    let https = format!("https://localhost:{}/", serve_tls().port());
    let (open, closed) = (format!("http://{}", serve_proxy("200 OK")), format!("http://{}", serve_proxy("403 Forbidden")));
    for engine in ENGINES {
        for target in [&plain, &https] {
            let common = ["-c", "2", "-d", "200ms", "-k", "--expect-body", "hello", "--engine", engine, target, "--proxy"];
            let result = load(&[&common[..], &[&open]].concat()).expect("the proxy accepts");
            assert!(result.requests.ok > 10 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
            let error = load(&[&common[..], &[&closed]].concat()).expect_err("the proxy refuses");
            let Some(NotStarted::CannotConnect { fault: Some(fault), .. }) = error.downcast_ref() else { panic!("{error:#}") };
            assert_eq!(fault.kind, ErrorKind::ConnectOther);
            assert!(fault.reason.contains("403") && !error.to_string().contains("hint"), "{error:#}");
        }
    }
}

#[test]
fn a_proxy_that_never_responds_times_out() {
    let silent = format!("http://{}", serve(|mut stream| while read_request(&mut stream) {}));
    let started = std::time::Instant::now();
    assert!(load(&["-c", "2", "-d", "1s", "--timeout", "200ms", "--proxy", &silent, "http://127.0.0.1:9/"]).is_err());
    assert!(started.elapsed() < std::time::Duration::from_secs(2));
}

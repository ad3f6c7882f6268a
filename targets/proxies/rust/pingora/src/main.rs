//! A proxy that uses pingora, with `WORKERS` threads. With a certificate and its key, it serves HTTPS and HTTP/2. With `SECOND_BACKEND`, it
//! balances requests between two backends, checks both every second, and avoids one that fails.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pingora_core::listeners::tls::TlsSettings;
use pingora_core::prelude::background_service;
use pingora_core::server::Server;
use pingora_core::server::configuration::ServerConf;
use pingora_core::services::listening::Service;
use pingora_core::upstreams::peer::HttpPeer;
use pingora_core::{Error, ErrorType, Result};
use pingora_load_balancing::LoadBalancer;
use pingora_load_balancing::health_check::HttpHealthCheck;
use pingora_load_balancing::selection::RoundRobin;
use pingora_proxy::{HttpProxy, ProxyHttp, Session, http_proxy_service};

/// The number of idle connections to the backend that are kept for each thread.
const IDLE_CONNECTIONS: usize = 1024;

/// The time after which one of two backends has failed, and between two checks of a backend.
const LIMIT: Duration = Duration::from_secs(1);

struct Relay {
    backend: String,
}

#[async_trait]
impl ProxyHttp for Relay {
    type CTX = ();

    fn new_ctx(&self) {}

    async fn upstream_peer(&self, _: &mut Session, _: &mut ()) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(&self.backend, false, String::new())))
    }
}

struct Balancer(Arc<LoadBalancer<RoundRobin>>);

#[async_trait]
impl ProxyHttp for Balancer {
    /// Whether the request has already been retried.
    type CTX = bool;

    fn new_ctx(&self) -> bool {
        false
    }

    async fn upstream_peer(&self, _: &mut Session, _: &mut bool) -> Result<Box<HttpPeer>> {
        let backend = self.0.select(b"", 256);
        let backend = backend.ok_or_else(|| Error::new(ErrorType::ConnectNoRoute))?;
        let mut peer = HttpPeer::new(backend, false, String::new());
        peer.options.connection_timeout = Some(LIMIT);
        peer.options.read_timeout = Some(LIMIT);
        Ok(Box::new(peer))
    }

    fn fail_to_connect(&self, _: &mut Session, _: &HttpPeer, is_retried: &mut bool, mut error: Box<Error>) -> Box<Error> {
        if !*is_retried {
            *is_retried = true;
            error.set_retry(true);
        }
        error
    }
}

fn main() {
    let mut args = env::args().skip(1);
    let usage = "usage: WORKERS=n proxy HOST:PORT BACKEND_HOST:BACKEND_PORT [CERT KEY]";
    let (address, backend) = (args.next().expect(usage), args.next().expect(usage));
    let certificate = args.next().zip(args.next());
    let workers = env::var("WORKERS").ok().and_then(|n| n.parse().ok());

    let mut server = Server::new_with_opt_and_conf(
        None,
        ServerConf {
            threads: workers.unwrap_or(1),
            upstream_keepalive_pool_size: IDLE_CONNECTIONS,
            // On SIGTERM, end at once instead of waiting for connections.
            grace_period_seconds: Some(0),
            graceful_shutdown_timeout_seconds: Some(0),
            ..ServerConf::default()
        },
    );
    server.bootstrap();
    if let Ok(second) = env::var("SECOND_BACKEND") {
        let mut balancer = LoadBalancer::try_from_iter([backend, second]).expect("cannot parse the addresses");
        balancer.set_health_check(Box::new(HttpHealthCheck::new("localhost", false)));
        balancer.health_check_frequency = Some(LIMIT);
        let checks = background_service("health checks", balancer);
        let proxy = Balancer(checks.task());
        let service = http_proxy_service(&server.configuration, proxy);
        server.add_service(listening(service, &address, certificate));
        server.add_service(checks);
    } else {
        let service = http_proxy_service(&server.configuration, Relay { backend });
        server.add_service(listening(service, &address, certificate));
    }
    server.run_forever();
}

/// Lets a service listen on an address, over TLS if there is a certificate.
fn listening<P>(mut service: Service<HttpProxy<P>>, address: &str, certificate: Option<(String, String)>) -> Service<HttpProxy<P>> {
    if let Some((cert, key)) = certificate {
        let mut settings = TlsSettings::intermediate(&cert, &key).expect("cannot read the certificate");
        settings.enable_h2();
        service.add_tls_with_settings(address, None, settings);
    } else {
        service.add_tcp(address);
    }
    service
}

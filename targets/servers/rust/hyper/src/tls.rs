//! HTTPS through tokio-rustls, and HTTP/2 with clients that select it by ALPN.

use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::{Error, accept, answer};

pub fn acceptor(cert: &str, key: &str) -> Result<TlsAcceptor, Error> {
    let certs = CertificateDer::pem_file_iter(cert)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certs, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

pub async fn serve(address: String, acceptor: TlsAcceptor) -> Result<(), Error> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let stream = accept(&listener).await;
        tokio::spawn(serve_connection(stream, acceptor.clone()));
    }
}

async fn serve_connection(stream: TcpStream, acceptor: TlsAcceptor) -> Result<(), Error> {
    let stream = acceptor.accept(stream).await?;
    auto::Builder::new(TokioExecutor::new())
        .http1()
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await
}

//! HTTPS through rustls, and HTTP/2 with clients that select it by ALPN.

use std::error::Error;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub fn config(cert: &str, key: &str) -> Result<ServerConfig, Box<dyn Error>> {
    let certs = CertificateDer::pem_file_iter(cert)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    // actix-web itself offers h2 and http/1.1 by ALPN.
    Ok(ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certs, key)?)
}

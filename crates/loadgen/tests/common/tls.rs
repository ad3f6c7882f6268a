//! TLS configurations of the test servers.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion};

/// Creates a self-signed certificate.
pub fn certificate() -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate")
}

/// Creates a self-signed certificate as `openssl req -x509` does: that of a certificate authority. It is valid until this year.
pub fn authority(valid_until: i32) -> CertifiedKey<KeyPair> {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a valid name");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.not_after = date_time_ymd(valid_until, 1, 1);
    let signing_key = KeyPair::generate().expect("a key");
    CertifiedKey { cert: params.self_signed(&signing_key).expect("a certificate"), signing_key }
}

/// Creates the configuration of a server with this certificate and one ALPN protocol.
pub fn tls_config(alpn: &[u8], certified: &CertifiedKey<KeyPair>) -> Arc<ServerConfig> {
    Arc::new(config_of(rustls::DEFAULT_VERSIONS, alpn, certified))
}

/// Like `tls_config`, but only for these versions of TLS.
pub fn config_of(versions: &[&'static SupportedProtocolVersion], alpn: &[u8], certified: &CertifiedKey<KeyPair>) -> ServerConfig {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions).expect("versions that ring knows");
    let mut config = builder.with_no_client_auth().with_single_cert(vec![certified.cert.der().clone()], key).expect("a matching pair");
    config.alpn_protocols = vec![alpn.to_vec()];
    config
}

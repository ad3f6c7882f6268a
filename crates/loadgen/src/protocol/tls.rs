//! TLS around any protocol, with rustls: bytes in, bytes out, as everything here.

use std::borrow::Cow;
use std::io::{ErrorKind as IoErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::{Fault, Flow, ParserCounts, Protocol, Sink, Slot};
use crate::errors::ErrorKind;

const PLAIN_BYTES: usize = 16 * 1024;

/// Whose certificates are believed.
#[derive(Clone, Copy, Debug)]
pub enum Trust<'a> {
    /// The system's roots; `SSL_CERT_FILE` names others.
    System,
    /// The roots in this PEM file and no others.
    File(&'a Path),
    /// Any certificate.
    Anything,
}

/// How servers are spoken to and believed.
#[derive(Clone, Debug)]
pub struct TlsSetup {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsSetup {
    /// `name` is asked for by SNI and must be in the certificate; `alpn` is the one protocol that is offered.
    pub fn new(name: &str, alpn: &[u8], trust: Trust<'_>) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
        let mut config = match trust {
            Trust::Anything => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
            Trust::System => builder.with_root_certificates(system_roots()),
            Trust::File(path) => builder.with_root_certificates(roots_of(path)?),
        }
        .with_no_client_auth();
        config.alpn_protocols = vec![alpn.to_vec()];
        let name = ServerName::try_from(name.to_owned()).with_context(|| format!("`{name}` is no name that TLS can ask for"))?;
        let setup = Self { config: Arc::new(config), name };
        ClientConnection::new(Arc::clone(&setup.config), setup.name.clone()).context("cannot set up TLS")?;
        Ok(setup)
    }

    fn connect(&self) -> ClientConnection {
        match ClientConnection::new(Arc::clone(&self.config), self.name.clone()) {
            Ok(mut connection) => {
                connection.set_buffer_limit(None);
                connection
            }
            Err(error) => unreachable!("the same setup has worked before: {error}"),
        }
    }
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn roots_of(path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).with_context(|| format!("cannot read certificates from {}", path.display()))?;
    for certificate in certificates {
        let certificate = certificate.with_context(|| format!("{} is no PEM file", path.display()))?;
        roots.add(certificate).with_context(|| format!("{} holds what is no certificate of an authority", path.display()))?;
    }
    if roots.is_empty() {
        bail!("{} holds no certificate; one begins with -----BEGIN CERTIFICATE-----", path.display());
    }
    Ok(roots)
}

pub struct Tls<P> {
    inner: P,
    setup: TlsSetup,
    plain: Box<[u8]>,
}

pub struct Session<S> {
    tls: ClientConnection,
    inner: S,
    out: Vec<u8>,
}

impl<P: Protocol> Tls<P> {
    pub fn new(inner: P, setup: TlsSetup) -> Self {
        Self { inner, setup, plain: vec![0; PLAIN_BYTES].into_boxed_slice() }
    }

    /// Encrypts what the inner protocol wants to send, once the handshake is over.
    fn pump(&mut self, session: &mut Session<P::Session>) -> Result<(), Fault> {
        if !session.tls.is_handshaking() {
            self.inner.prepare_output(&mut session.inner);
            let output = self.inner.output(&session.inner);
            let length = output.len();
            session.tls.writer().write_all(output).map_err(|error| fault(error.to_string()))?;
            self.inner.sent(&mut session.inner, length);
        }
        while session.tls.wants_write() {
            session.tls.write_tls(&mut session.out).map_err(|error| fault(error.to_string()))?;
        }
        Ok(())
    }

    fn decrypted(&mut self, session: &mut Session<P::Session>, sink: &mut impl Sink) -> Result<Flow, Fault> {
        let mut flow = Flow::Open;
        loop {
            match session.tls.reader().read(&mut self.plain) {
                Ok(0) => return Ok(flow),
                Ok(length) => {
                    flow = self.inner.receive(&mut session.inner, &self.plain[..length], sink)?;
                    if flow == Flow::Close {
                        return Ok(flow);
                    }
                }
                Err(error) if error.kind() == IoErrorKind::WouldBlock => return Ok(flow),
                Err(error) => return Err(fault(error.to_string())),
            }
        }
    }
}

fn fault(reason: impl Into<Cow<'static, str>>) -> Fault {
    Fault { kind: ErrorKind::Tls, reason: reason.into() }
}

impl<P: Protocol> Protocol for Tls<P> {
    type Session = Session<P::Session>;

    fn open(&mut self) -> Self::Session {
        let mut session = Session { tls: self.setup.connect(), inner: self.inner.open(), out: Vec::new() };
        // Nothing but a hello is written to memory: this cannot fail.
        let _ = self.pump(&mut session);
        session
    }

    fn ready(&self, session: &Self::Session) -> bool {
        !session.tls.is_handshaking() && self.inner.ready(&session.inner)
    }

    fn request(&mut self, session: &mut Self::Session, slot: Slot) {
        self.inner.request(&mut session.inner, slot);
    }

    fn prepare_output(&mut self, session: &mut Self::Session) {
        // A session that cannot encrypt any more has failed already, and is about to be closed.
        let _ = self.pump(session);
    }

    fn output<'a>(&'a self, session: &'a Self::Session) -> &'a [u8] {
        &session.out
    }

    fn sent(&mut self, session: &mut Self::Session, count: usize) {
        session.out.drain(..count);
    }

    fn stable_output(&self) -> bool {
        false
    }

    fn abandon(&mut self, session: &mut Self::Session, slot: Slot) -> bool {
        self.inner.abandon(&mut session.inner, slot)
    }

    fn receive(&mut self, session: &mut Self::Session, mut bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault> {
        let mut flow = Flow::Open;
        while !bytes.is_empty() {
            session.tls.read_tls(&mut bytes).map_err(|error| fault(error.to_string()))?;
            if let Err(error) = session.tls.process_new_packets() {
                // The alert that says why is on its way out.
                let _ = self.pump(session);
                return Err(fault(error.to_string()));
            }
            flow = self.decrypted(session, sink)?;
            if flow == Flow::Close {
                return Ok(flow);
            }
        }
        self.pump(session)?;
        Ok(flow)
    }

    fn end_of_stream(&mut self, session: &mut Self::Session, sink: &mut impl Sink) -> Fault {
        if session.tls.is_handshaking() {
            return fault("the connection was closed during the handshake");
        }
        self.inner.end_of_stream(&mut session.inner, sink)
    }

    fn reset(&mut self, session: &mut Self::Session, sink: &mut impl Sink) -> Fault {
        self.inner.reset(&mut session.inner, sink)
    }

    fn skippable(&self, _session: &Self::Session) -> usize {
        0
    }

    fn skip(&mut self, _session: &mut Self::Session, _count: usize, _sink: &mut impl Sink) -> Result<Flow, Fault> {
        Err(fault("encrypted bytes cannot be skipped"))
    }

    fn parser_counts(&self) -> ParserCounts {
        self.inner.parser_counts()
    }
}

/// `--insecure`: whose certificate it is does not matter, but that its key signed the handshake does.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

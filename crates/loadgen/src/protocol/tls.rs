//! A TLS layer around any protocol. It uses rustls and performs no I/O.
//!
//! The server's close_notify ends the stream, and all data after it is ignored. If the connection ends without close_notify, the stream may
//! have been truncated (RFC 8446, section 6.1). In this case, a response that is delimited by the end of the stream counts as
//! `closed_early`.

use std::borrow::Cow;
use std::io::{BufRead, ErrorKind as IoErrorKind, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, HandshakeKind, RootCertStore, SignatureScheme,
};

use super::{Fault, Flow, Outcome, ParserCounts, Protocol, Sink, Slot, TlsHandshakes};
use crate::figures::errors::ErrorKind;
use crate::figures::sample::Sample;

/// Maximum amount of pending encrypted output, in bytes. The rest of a large request is encrypted after some of this output has been sent.
const ENCRYPTED_BYTES: usize = 64 * 1024;

/// The certificates to accept.
#[derive(Clone, Copy, Debug)]
pub enum Trust<'a> {
    /// Certificates that chain to the system's roots, or to those in `SSL_CERT_FILE`.
    System,
    /// Only certificates that chain to a root in this PEM file.
    File(&'a Path),
    /// Any certificate.
    Anything,
}

/// The TLS configuration of all connections.
#[derive(Clone, Debug)]
pub struct TlsSetup {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsSetup {
    /// Creates a configuration. `name` is sent as SNI and must match the certificate; `alpn` is the only protocol offered. Without
    /// `resumption`, each connection performs a full handshake, as a new client would.
    pub fn new(name: &str, alpn: &[u8], trust: Trust<'_>, resumption: bool) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
        let roots = match trust {
            Trust::Anything => None,
            Trust::System => Some(Roots::parsable(rustls_native_certs::load_native_certs().certs)),
            Trust::File(path) => Some(Roots::in_file(path)?),
        };
        let verifier = Arc::new(Verifier { roots, algorithms: provider.signature_verification_algorithms });
        let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        config.alpn_protocols = vec![alpn.to_vec()];
        if !resumption {
            config.resumption = Resumption::disabled();
        }
        let name = ServerName::try_from(name.to_owned()).with_context(|| format!("`{name}` is not a valid server name for TLS"))?;
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
            Err(error) => unreachable!("the same configuration worked before: {error}"),
        }
    }
}

/// The trusted certificates.
#[derive(Debug)]
struct Roots {
    anchors: RootCertStore,
    certificates: Vec<CertificateDer<'static>>,
}

impl Roots {
    /// Uses all certificates that can be parsed. A system may have others.
    fn parsable(certificates: Vec<CertificateDer<'static>>) -> Self {
        let mut anchors = RootCertStore::empty();
        anchors.add_parsable_certificates(certificates.iter().cloned());
        Self { anchors, certificates }
    }

    fn in_file(path: &Path) -> Result<Self> {
        let mut roots = Self { anchors: RootCertStore::empty(), certificates: Vec::new() };
        let certificates =
            CertificateDer::pem_file_iter(path).with_context(|| format!("cannot read certificates from {}", path.display()))?;
        for certificate in certificates {
            let certificate = certificate.with_context(|| format!("{} is not a valid PEM file", path.display()))?;
            roots.anchors.add(certificate.clone()).with_context(|| format!("{} contains an invalid certificate", path.display()))?;
            roots.certificates.push(certificate);
        }
        if roots.certificates.is_empty() {
            bail!("{} contains no certificate; hint: PEM certificates start with -----BEGIN CERTIFICATE-----", path.display());
        }
        Ok(roots)
    }
}

pub struct Tls<P> {
    inner: P,
    setup: TlsSetup,
    handshakes: TlsHandshakes,
}

pub struct Session<S> {
    tls: ClientConnection,
    inner: S,
    /// Whether the handshake is complete.
    established: bool,
    /// Encrypted output. Its first `out_sent` bytes have been sent.
    out: Vec<u8>,
    out_sent: usize,
}

impl<S> Session<S> {
    fn unsent(&self) -> &[u8] {
        &self.out[self.out_sent..]
    }

    /// Moves pending TLS records to the output.
    fn write_records(&mut self) -> Result<(), Fault> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.out).map_err(|error| fault(error.to_string()))?;
        }
        Ok(())
    }
}

impl<P: Protocol> Tls<P> {
    pub fn new(inner: P, setup: TlsSetup) -> Self {
        Self { inner, setup, handshakes: TlsHandshakes::default() }
    }

    /// Encrypts output of the inner protocol until `ENCRYPTED_BYTES` are pending, if the handshake is complete. Also writes pending TLS
    /// records.
    fn pump(&mut self, session: &mut Session<P::Session>) -> Result<(), Fault> {
        if session.established {
            loop {
                let room = ENCRYPTED_BYTES.saturating_sub(session.unsent().len());
                self.inner.prepare_output(&mut session.inner);
                let output = self.inner.output(&session.inner);
                let length = output.len().min(room);
                if length == 0 {
                    break;
                }
                session.tls.writer().write_all(&output[..length]).map_err(|error| fault(error.to_string()))?;
                self.inner.sent(&mut session.inner, length);
                session.write_records()?;
            }
        }
        session.write_records()
    }

    fn note_handshake(&mut self, session: &mut Session<P::Session>) {
        session.established = true;
        if self.handshakes.cipher.is_none() {
            self.handshakes.cipher = session.tls.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
        }
        match session.tls.handshake_kind() {
            Some(HandshakeKind::Resumed) => self.handshakes.resumed += 1,
            _ => self.handshakes.full += 1,
        }
    }

    fn decrypted(&mut self, session: &mut Session<P::Session>, sink: &mut impl Sink) -> Result<Flow, Fault> {
        let mut flow = Flow::Open;
        let mut reader = session.tls.reader();
        loop {
            let length = match reader.fill_buf() {
                Ok([]) => return Ok(flow),
                Ok(plain) => {
                    flow = self.inner.receive(&mut session.inner, plain, sink)?;
                    if flow == Flow::Close {
                        return Ok(flow);
                    }
                    plain.len()
                }
                Err(error) if error.kind() == IoErrorKind::WouldBlock => return Ok(flow),
                Err(error) => return Err(fault(error.to_string())),
            };
            reader.consume(length);
        }
    }
}

/// A sink that suppresses completed responses. If the stream may have been truncated, an incomplete response may look complete, so only
/// failures are certain.
struct Uncertain<'a, S>(&'a mut S);

impl<S: Sink> Sink for Uncertain<'_, S> {
    fn complete(&mut self, slot: Slot, outcome: Outcome) {
        if !outcome.is_complete() {
            self.0.complete(slot, outcome);
        }
    }
}

const CLOSED_IN_HANDSHAKE: &str = "the connection was closed during the handshake";

fn fault(reason: impl Into<Cow<'static, str>>) -> Fault {
    Fault { kind: ErrorKind::Tls, reason: reason.into() }
}

impl<P: Protocol> Protocol for Tls<P> {
    type Session = Session<P::Session>;

    fn open(&mut self) -> Self::Session {
        let tls = self.setup.connect();
        let mut session = Session { tls, inner: self.inner.open(), established: false, out: Vec::new(), out_sent: 0 };
        // This only writes a ClientHello to memory, so it cannot fail.
        let _ = session.write_records();
        session
    }

    fn ready(&self, session: &Self::Session) -> bool {
        session.established && self.inner.ready(&session.inner)
    }

    fn request(&mut self, session: &mut Self::Session, slot: Slot) -> u16 {
        self.inner.request(&mut session.inner, slot)
    }

    fn prepare_output(&mut self, session: &mut Self::Session) {
        // Encryption fails only in a session that has already failed and is about to be closed.
        let _ = self.pump(session);
    }

    fn output<'a>(&'a self, session: &'a Self::Session) -> &'a [u8] {
        session.unsent()
    }

    fn sent(&mut self, session: &mut Self::Session, count: usize) {
        session.out_sent += count;
        let left = session.unsent().len();
        if left == 0 {
            session.out.clear();
            session.out_sent = 0;
        } else if session.out_sent >= left {
            // This moves no more bytes than were sent since the last move, so the average cost per byte is constant.
            session.out.drain(..session.out_sent);
            session.out_sent = 0;
        }
        // Encrypt more of a large request. The result is ignored for the same reason as in `prepare_output`.
        let _ = self.pump(session);
    }

    fn stable_output(&self) -> bool {
        false
    }

    fn abandon(&mut self, session: &mut Self::Session, slot: Slot) -> bool {
        let abandoned = self.inner.abandon(&mut session.inner, slot);
        let _ = self.pump(session);
        abandoned
    }

    fn receive(&mut self, session: &mut Self::Session, mut bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault> {
        let mut flow = Flow::Open;
        while !bytes.is_empty() {
            let taken = session.tls.read_tls(&mut bytes).map_err(|error| fault(error.to_string()))?;
            let processed = session.tls.process_new_packets();
            if !session.established && !session.tls.is_handshaking() {
                self.note_handshake(session);
            }
            // Before handling an error or the end of the stream, process the data that was decrypted before it.
            flow = self.decrypted(session, sink)?;
            if flow == Flow::Close {
                return Ok(flow);
            }
            match processed {
                Err(error) => {
                    // Send a TLS alert that states the reason, if possible.
                    let _ = self.pump(session);
                    return Err(fault(error.to_string()));
                }
                Ok(state) if state.peer_has_closed() && session.established => {
                    return Err(self.inner.end_of_stream(&mut session.inner, sink));
                }
                Ok(state) if state.peer_has_closed() => return Err(fault(CLOSED_IN_HANDSHAKE)),
                Ok(_) if taken == 0 => return Err(fault("the server sent more data than TLS accepts")),
                Ok(_) => {}
            }
        }
        self.pump(session)?;
        Ok(flow)
    }

    fn end_of_stream(&mut self, session: &mut Self::Session, sink: &mut impl Sink) -> Fault {
        if !session.established {
            return fault(CLOSED_IN_HANDSHAKE);
        }
        self.inner.end_of_stream(&mut session.inner, &mut Uncertain(sink))
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

    fn sample_next(&mut self) {
        self.inner.sample_next();
    }

    fn take_samples(&mut self) -> Vec<Sample> {
        self.inner.take_samples()
    }

    fn tls_handshakes(&self) -> Option<TlsHandshakes> {
        Some(self.handshakes)
    }
}

/// Verifies that a certificate chains to a root and matches the server's name. Without roots (`--insecure`), it accepts any certificate.
/// In both cases, the server must prove that it has the certificate's private key.
#[derive(Debug)]
struct Verifier {
    roots: Option<Roots>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            match verify_server_cert_signed_by_trust_anchor(&certificate, &roots.anchors, intermediates, now, self.algorithms.all) {
                // Self-signed certificates are often those of an authority (`openssl req -x509` makes such a certificate by default).
                // webpki rejects them as certificates of a server, with this error, after it has checked their dates. OpenSSL and Go
                // accept them if they are among the roots.
                Err(Error::InvalidCertificate(CertificateError::Other(_))) if roots.certificates.contains(end_entity) => {}
                verified => verified?,
            }
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

//! TLS around any protocol, with rustls: bytes in, bytes out, as everything here.
//!
//! The stream ends with the server's close_notify, at once: nothing behind it is read. Where the connection ends without one, the stream may have
//! been truncated (RFC 8446, section 6.1), so nothing that only its end would make complete is complete; such a request is `closed_early`.

use std::borrow::Cow;
use std::io::{BufRead, ErrorKind as IoErrorKind, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, HandshakeKind, RootCertStore, SignatureScheme};

use super::{Fault, Flow, Outcome, ParserCounts, Protocol, Sink, Slot, TlsHandshakes};
use crate::figures::errors::ErrorKind;
use crate::figures::sample::Sample;

/// The rest of a large request waits until these many encrypted bytes, or nearly, are sent.
const ENCRYPTED_BYTES: usize = 64 * 1024;

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
    /// `name` is asked for by SNI and must be in the certificate; `alpn` is the one protocol that is offered. Without `resumption` each connection
    /// makes a full handshake, as one of a new client does.
    pub fn new(name: &str, alpn: &[u8], trust: Trust<'_>, resumption: bool) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
        let mut config = match trust {
            Trust::Anything => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
            Trust::System => builder.with_root_certificates(system_roots()),
            Trust::File(path) => builder.with_root_certificates(roots_of(path)?),
        }
        .with_no_client_auth();
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
    handshakes: TlsHandshakes,
}

pub struct Session<S> {
    tls: ClientConnection,
    inner: S,
    /// The handshake is over.
    established: bool,
    /// What is encrypted, and how much of it is sent.
    out: Vec<u8>,
    out_sent: usize,
}

impl<S> Session<S> {
    fn unsent(&self) -> &[u8] {
        &self.out[self.out_sent..]
    }

    /// Moves what rustls has to say to the output.
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

    /// Encrypts what the inner protocol wants to send, once the handshake is over, as far as it can be sent soon.
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

/// Lets nothing pass that is complete: of a stream that may have been truncated, only failures are certain.
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
        // Nothing but a hello is written to memory: this cannot fail.
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
        // A session that cannot encrypt any more has failed already, and is about to be closed.
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
            // As many bytes were sent as are moved, at least.
            session.out.drain(..session.out_sent);
            session.out_sent = 0;
        }
        // The rest of a large request; a failure is heard as that of `request` is.
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
            // What was decrypted before the end, or before a record that is wrong, has come.
            flow = self.decrypted(session, sink)?;
            if flow == Flow::Close {
                return Ok(flow);
            }
            match processed {
                Err(error) => {
                    // The alert that says why is on its way out.
                    let _ = self.pump(session);
                    return Err(fault(error.to_string()));
                }
                Ok(state) if state.peer_has_closed() && session.established => {
                    return Err(self.inner.end_of_stream(&mut session.inner, sink));
                }
                Ok(state) if state.peer_has_closed() => return Err(fault(CLOSED_IN_HANDSHAKE)),
                Ok(_) if taken == 0 => return Err(fault("more bytes came than TLS takes")),
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

//! Socket I/O, with or without TLS.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::{Arc, LazyLock};

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::{Connection, Over};

const READ_BYTES: usize = 64 * 1024;
pub const FRAME_BYTES_MAX: usize = 16_384;

pub fn tls_config(http2: bool) -> Arc<ServerConfig> {
    static CONFIGS: LazyLock<[Arc<ServerConfig>; 2]> = LazyLock::new(|| {
        let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        [&b"http/1.1"[..], b"h2"].map(|alpn| {
            let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("default versions");
            let config = builder.with_no_client_auth().with_single_cert(vec![certified.cert.der().clone()], key);
            let mut config = config.expect("a matching pair");
            config.alpn_protocols = vec![alpn.to_vec()];
            Arc::new(config)
        })
    });
    Arc::clone(&CONFIGS[usize::from(http2)])
}

impl Connection<'_> {
    pub(super) fn half_close(&mut self) {
        self.note_close();
        self.shut = true;
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Writes bytes to the socket without encrypting them.
    pub(super) fn raw(&mut self, mut bytes: &[u8]) -> Result<(), Over> {
        while !bytes.is_empty() && !self.shut {
            match self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Over),
            }
        }
        Ok(())
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Over> {
        if self.tls.is_none() {
            return self.raw(bytes);
        }
        self.shake_hands()?;
        for piece in bytes.chunks(FRAME_BYTES_MAX) {
            let records = self.records_of(piece)?;
            self.raw(&records)?;
        }
        // Process data that arrived together with the end of the handshake. This happens after sending, because SETTINGS must precede any
        // reply to that data.
        self.take(&[])
    }

    pub(super) fn records_of(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Over> {
        let mut records = Vec::new();
        if let Some(tls) = &mut self.tls {
            tls.writer().write_all(bytes)?;
            while tls.wants_write() {
                tls.write_tls(&mut records)?;
            }
        }
        Ok(records)
    }

    pub(super) fn shake_hands(&mut self) -> Result<(), Over> {
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            let records = self.records_of(&[])?;
            self.raw(&records)?;
            if self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
                let (_, plain) = self.read_records(READ_BYTES)?;
                if self.script.http2 { self.input.extend_from_slice(&plain) } else { self.take(&plain)? }
            }
        }
        let rest = self.records_of(&[])?;
        self.raw(&rest)
    }

    pub(super) fn close_notify(&mut self) -> Result<(), Over> {
        if self.tls.is_none() {
            return Ok(());
        }
        self.shake_hands()?;
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        self.note_end_of_body();
        self.notified = true;
        let records = self.records_of(&[])?;
        self.raw(&records)
    }

    pub(super) fn truncated_record(&mut self, length: usize) -> Result<(), Over> {
        if self.tls.is_none() {
            return self.piece(length);
        }
        self.shake_hands()?;
        let response = self.shared.response[..self.shared.response.len().min(FRAME_BYTES_MAX)].to_vec();
        let records = self.records_of(&response)?;
        // Never send the last byte, because a complete record would be valid.
        self.raw(&records[..length.min(records.len() - 1)])
    }

    pub(super) fn read(&mut self) -> Result<(), Over> {
        self.read_at_most(READ_BYTES).map(drop)
    }

    pub(super) fn read_at_most(&mut self, most: usize) -> Result<usize, Over> {
        if self.tls.is_none() {
            let bytes = self.receive(most)?;
            self.take(&bytes)?;
            return Ok(bytes.len());
        }
        if self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            self.shake_hands()?;
            return self.take(&[]).map(|()| 0);
        }
        let (count, plain) = self.read_records(most)?;
        self.take(&plain)?;
        Ok(count)
    }

    /// Reads at most `most` bytes of TLS records. Returns the number of bytes read and the decrypted content.
    pub(super) fn read_records(&mut self, most: usize) -> Result<(usize, Vec<u8>), Over> {
        let bytes = self.receive(most)?;
        let (mut rest, mut plain, mut failed) = (&bytes[..], Vec::new(), false);
        while let Some(tls) = self.tls.as_mut().filter(|_| !rest.is_empty() && !failed) {
            failed = !matches!(tls.read_tls(&mut rest), Ok(1..)) || tls.process_new_packets().is_err();
            // Ignore `WouldBlock`, which every read before the end of the stream returns.
            let _ = tls.reader().read_to_end(&mut plain);
        }
        if failed {
            let alert = self.records_of(&[])?;
            self.raw(&alert)?;
            return Err(Over);
        }
        Ok((bytes.len(), plain))
    }

    pub(super) fn receive(&mut self, most: usize) -> Result<Vec<u8>, Over> {
        let mut room = vec![0; most.clamp(1, READ_BYTES)];
        loop {
            match (&self.socket).read(&mut room) {
                Ok(0) => return Err(Over),
                Ok(count) => {
                    room.truncate(count);
                    return Ok(room);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Over),
            }
        }
    }
}

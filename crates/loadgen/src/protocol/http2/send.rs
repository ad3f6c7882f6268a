//! Encodes requests as frames, within the server's limits.

use super::frame::{self, Head};
use super::streams::Stream;
use super::{Http2, Session};

/// Amount of pending output, in bytes, at which the client stops adding request bodies.
const OUTPUT_BYTES: usize = 64 * 1024;
/// Maximum size of a DATA frame, even if the server allows larger ones.
const DATA_BYTES_MAX: usize = 16 * 1024;

impl Http2 {
    /// Starts streams for waiting requests, as far as the server's limits allow.
    #[inline]
    pub(super) fn begin_waiting(&self, session: &mut Session) {
        while session.streams.open() < session.server.streams_max as usize
            && session.is_open()
            && let Some((slot, kind)) = session.waiting.pop_front()
        {
            let Session { output, encoder, server, .. } = session;
            let id = session.next_id;
            let has_body = !self.structured(kind).body.is_empty();
            let encode = |out: &mut Vec<u8>| encoder.encode(&self.fields, kind as usize, out);
            output.headers(id, !has_body, server.payload_bytes_max, encode);
            session.streams.insert(slot, Stream::new(id, kind, server.stream_window));
            session.next_id += 2;
            if has_body {
                session.sending.push(slot);
            }
        }
    }

    /// Adds parts of request bodies to the output until `OUTPUT_BYTES` are pending, as far as the flow-control windows allow.
    #[inline]
    pub(super) fn write_bodies(&self, session: &mut Session) {
        if !session.sending.is_empty() {
            let mut sending = std::mem::take(&mut session.sending);
            sending.retain(|slot| !self.write_body(session, *slot));
            session.sending = sending;
        }
    }

    /// Adds as much of one body to the output as the flow-control windows and `OUTPUT_BYTES` allow. Returns whether the whole body is now
    /// in the output.
    fn write_body(&self, session: &mut Session, slot: u16) -> bool {
        let Session { output, streams, send_window, server, .. } = session;
        let Some(stream) = streams.get(slot) else { return true };
        let body = &self.structured(stream.kind).body;
        let length_max = server.payload_bytes_max.min(DATA_BYTES_MAX);
        while output.unsent().len() < OUTPUT_BYTES {
            let left = &body[stream.body_sent..];
            let length = left.len().min(length_max).min(send_window.room()).min(stream.send_window.room());
            if length == 0 {
                return false;
            }
            let is_last = length == left.len();
            let flags = if is_last { frame::END_STREAM } else { 0 };
            Head { length, kind: frame::DATA, flags, stream: stream.id }.write(output.end());
            output.end().extend_from_slice(&left[..length]);
            send_window.take(length);
            stream.send_window.take(length);
            stream.body_sent += length;
            if is_last {
                return true;
            }
        }
        false
    }
}

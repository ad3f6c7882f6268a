//! The memory that stands where the h2 crate expects a socket.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Debug, Default)]
pub struct Buffers {
    pub input: Vec<u8>,
    /// How much of the input was taken.
    pub taken: usize,
    pub output: Vec<u8>,
    pub ended: bool,
}

/// Both ends belong to one thread, and nobody holds a borrow across a call.
#[derive(Clone, Debug, Default)]
pub struct Pipe(pub Rc<RefCell<Buffers>>);

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _context: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut buffers = self.0.borrow_mut();
        let waiting = &buffers.input[buffers.taken..];
        let count = waiting.len().min(room.remaining());
        if count == 0 {
            // Whoever brings more bytes polls again: no waker is needed.
            return if buffers.ended { Poll::Ready(Ok(())) } else { Poll::Pending };
        }
        room.put_slice(&waiting[..count]);
        buffers.taken += count;
        if buffers.taken == buffers.input.len() {
            buffers.input.clear();
            buffers.taken = 0;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().output.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

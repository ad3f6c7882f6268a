//! Flow control (RFC 9113, section 5.2), in both directions.

/// Maximum size of a window.
pub const WINDOW_MAX: i64 = (1 << 31) - 1;
/// Initial size of a window.
pub const WINDOW_DEFAULT: u32 = 65_535;

/// The number of bytes that the server may still send. When half of the window is used up, the client sends a window update.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    left: u32,
    size: u32,
}

impl ReceiveWindow {
    pub const fn new(size: u32) -> Self {
        Self { left: size, size }
    }

    /// Subtracts received bytes from the window. Returns false if the server was not allowed to send them.
    #[inline]
    pub fn take(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.left as usize;
        self.left -= if fits { bytes as u32 } else { 0 };
        fits
    }

    /// Returns the size of the window update to send, or `None` if no update is due.
    #[inline]
    pub fn update(&mut self) -> Option<u32> {
        let used = self.size - self.left;
        (used >= self.size / 2).then(|| {
            self.left = self.size;
            used
        })
    }
}

/// The number of bytes that the client may still send. This number becomes negative if the server shrinks the windows of open streams too
/// much.
#[derive(Clone, Copy, Debug)]
pub struct SendWindow(i64);

impl SendWindow {
    pub const fn new(size: u32) -> Self {
        Self(size as i64)
    }

    #[inline]
    pub fn room(self) -> usize {
        self.0.max(0) as usize
    }

    #[inline]
    pub fn take(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    /// Changes the size of the window. Returns false if the result exceeds the maximum.
    #[must_use]
    pub fn change(&mut self, by: i64) -> bool {
        self.0 += by;
        self.0 <= WINDOW_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_due_when_half_of_the_window_is_used() {
        let mut window = ReceiveWindow::new(100);
        assert!(window.take(49));
        assert_eq!(window.update(), None);
        assert!(window.take(1));
        assert_eq!(window.update(), Some(50));
        assert!(!window.take(101) && window.take(100) && !window.take(1) && window.take(0));
        assert_eq!(window.update(), Some(100));
    }

    #[test]
    fn a_send_window_may_be_negative_but_not_too_large() {
        let mut window = SendWindow::new(10);
        window.take(4);
        assert!(window.change(-8));
        assert_eq!(window.room(), 0);
        assert!(window.change(3));
        assert_eq!(window.room(), 1);
        assert!(window.change(WINDOW_MAX - 1) && !window.change(1));
    }
}

"""The way to a server: TCP or a Unix socket, with or without TLS, and HTTP/1.1 or HTTP/2."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass

from httpbench.model import Trust

HTTP2 = "h2"
"""Name of HTTP/2 in the handshake of TLS (ALPN)."""


@dataclass(frozen=True, slots=True)
class Transport:
    """How the bytes of requests and responses travel."""

    trust: Trust | None = None
    """The certificates to accept from a server that speaks TLS. ``None``: without TLS."""
    http2: bool = False
    unix_socket: str | None = None
    """Path of the Unix socket to connect to, or ``None`` for TCP."""

    @property
    def scheme(self) -> str:
        return "http" if self.trust is None else "https"

    def connect(self, host: str, port: int, timeout_s: float) -> socket.socket:
        """Connect to a server.

        Raises ``OSError`` if nothing listens on the port or Unix socket, and its subclass ``ssl.SSLError`` if the handshake of TLS fails.
        """
        plain = self._tcp(host, port, timeout_s) if self.unix_socket is None else self._unix(self.unix_socket, timeout_s)
        if self.trust is None:
            return plain
        try:
            return self._context(self.trust).wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise

    def _tcp(self, host: str, port: int, timeout_s: float) -> socket.socket:
        connection = socket.create_connection((host, port), timeout=timeout_s)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _unix(self, path: str, timeout_s: float) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(timeout_s)
            connection.connect(path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _context(self, trust: Trust) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=trust.ca_file)
        if trust.any_certificate:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols([HTTP2] if self.http2 else ["http/1.1"])
        return context


PLAIN = Transport()
"""HTTP/1.1 over TCP."""

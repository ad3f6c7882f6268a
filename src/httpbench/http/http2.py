"""Perform one HTTP/2 exchange (RFC 9113), with h2 as the protocol's implementation."""

from __future__ import annotations

import ssl
import time
from contextlib import closing
from socket import socket

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError

from httpbench.http.response import BODY_LIMIT_BYTES, HOP_BY_HOP, TOO_LARGE, ExchangeError, NoResponseError, Response
from httpbench.http.transport import HTTP2, Transport
from httpbench.model import Request

LEFT_OUT = HOP_BY_HOP | {"host"}
"""Headers of HTTP/1.1 that an HTTP/2 request must not contain (section 8.2.2), and ``Host``, which becomes ``:authority``."""
RECEIVE_BYTES = 65_536
NO_HTTP2 = "does not offer HTTP/2 in its TLS handshake (ALPN)"
NO_PROTOCOL = "no application protocol"
"""Part of OpenSSL's message if the server supports none of the offered protocols."""


def exchange(host: str, port: int, request: Request, timeout_s: float, transport: Transport, *, only_head: bool = False) -> Response:
    """Send one request on a new connection and return the response, or with ``only_head`` its head with an empty body.

    Raises :class:`ExchangeError` if the response isn't valid HTTP/2, and ``OSError`` if nothing listens on the port.
    """
    deadline = time.monotonic() + timeout_s
    try:
        connected = transport.connect(host, port, timeout_s)
    except ssl.SSLError as error:
        if NO_PROTOCOL in str(error):
            raise ExchangeError(NO_HTTP2) from None
        raise
    with closing(connected) as connection:
        if isinstance(connection, ssl.SSLSocket) and connection.selected_alpn_protocol() != HTTP2:
            raise ExchangeError(NO_HTTP2)
        try:
            return _Exchange(connection, deadline, timeout_s).perform(request, f"{host}:{port}", transport.scheme, only_head=only_head)
        except ProtocolError as error:
            raise ExchangeError(f"sent invalid HTTP/2: {error}") from None


class _Exchange:
    """The state of the only stream of a connection."""

    def __init__(self, connection: socket, deadline: float, timeout_s: float):
        self._socket, self._deadline, self._timeout_s = connection, deadline, timeout_s
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding="latin-1"))
        self._headers: list[tuple[str, str]] = []
        self._body = bytearray()
        self._size_bytes = 0
        self._has_ended = False

    def perform(self, request: Request, authority: str, scheme: str, *, only_head: bool) -> Response:
        own = {name.lower(): value for name, value in request.headers.items()}
        pseudo = {":method": request.method, ":scheme": scheme, ":authority": own.get("host", authority), ":path": request.path}
        fields = [*pseudo.items(), *((name, value) for name, value in own.items() if name not in LEFT_OUT)]
        body = request.body.encode()
        if body and "content-length" not in own:
            fields.append(("content-length", str(len(body))))
        self._h2.initiate_connection()
        stream = self._h2.get_next_available_stream_id()
        self._h2.send_headers(stream, fields, end_stream=not body)
        self._flush()
        while body:
            if (count := min(self._h2.local_flow_control_window(stream), self._h2.max_outbound_frame_size, len(body))) > 0:
                self._h2.send_data(stream, body[:count], end_stream=count == len(body))
                body = body[count:]
                self._flush()
            else:
                self._receive()
        while not (self._has_ended or (only_head and self._headers)):
            self._receive()
        headers = tuple((name, value) for name, value in self._headers if not name.startswith(":"))
        status = next((value for name, value in self._headers if name == ":status"), "")
        if len(status) != 3 or not status.isdigit():
            raise ExchangeError(f"responded with the status `{status[:20]}`")
        return Response(int(status), headers, b"" if only_head else bytes(self._body), self._size_bytes)

    def _flush(self) -> None:
        try:
            self._socket.sendall(self._h2.data_to_send())
        except OSError as error:
            raise ExchangeError(f"did not accept the request: {error.strerror or error}") from None

    def _receive(self) -> None:
        """Read what has arrived, and note the parts of the response in it."""
        left_s = self._deadline - time.monotonic()
        try:
            if left_s <= 0:
                raise TimeoutError
            self._socket.settimeout(left_s)
            data = self._socket.recv(RECEIVE_BYTES)
        except TimeoutError:
            if self._headers:
                raise ExchangeError(f"did not end its response within {self._timeout_s:.3g} s") from None
            raise NoResponseError(f"did not respond within {self._timeout_s:.3g} s") from None
        except OSError as error:
            raise ExchangeError(f"broke the connection: {error.strerror or error}") from None
        if not data:
            raise ExchangeError("closed the connection " + ("in its response" if self._headers else "before it responded"))
        self._size_bytes += len(data)
        for event in self._h2.receive_data(data):
            match event:
                case ResponseReceived(headers=headers):
                    self._headers = [(str(name), str(value)) for name, value in headers or ()]
                case DataReceived(data=part, flow_controlled_length=count, stream_id=stream):
                    self._body += part or b""
                    if len(self._body) > BODY_LIMIT_BYTES:
                        raise ExchangeError(TOO_LARGE)
                    self._h2.acknowledge_received_data(count or 0, stream or 0)
                case StreamEnded():
                    self._has_ended = True
                case StreamReset(error_code=code):
                    raise ExchangeError(f"reset the stream (error {code})")
                case ConnectionTerminated(error_code=code) if not self._has_ended and code:
                    raise ExchangeError(f"ended the connection (GOAWAY, error {code})")
        self._flush()

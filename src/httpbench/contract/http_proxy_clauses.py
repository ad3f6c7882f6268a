"""Check the contract of an HTTP proxy, clause by clause (:data:`CLAUSES`), from both ends of the proxy.

In front of a correct backend, an HTTP proxy must behave like a correct server. Several clauses are therefore those of servers. The other
clauses compare the requests that arrive at the backend with those that were sent, and likewise the responses.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from httpbench.contract import server_clauses
from httpbench.contract.backend import digest, pattern
from httpbench.contract.body_clauses import reads_bodies, reads_bodies_in_a_pipeline
from httpbench.contract.check import Check
from httpbench.contract.proxy_clauses import CONNECTIONS, MANY_LIMIT_S, OWN_FILES, on_many_connections
from httpbench.contract.recording_backend import FOR_THE_NEXT_HOP, Recorded, RecordingBackend, chunked
from httpbench.host import open_files
from httpbench.http.exchange import Connection, exchange
from httpbench.http.response import ExchangeError, Response
from httpbench.http.server import Server, pipelining_problem, splitting_problem
from httpbench.http.transport import PLAIN, Transport
from httpbench.model import Limit, Request

LIMIT_S = 10.0
"""Time limit of each response, in seconds."""
DECLARED_LIMIT_S = 2.0
"""Time limit of each response if the proxy's declared limits excuse its absence, in seconds."""
BODY_BYTES = 1 << 20
SLOW_BYTES = 8 << 20
SLOW_PARTS = 40
SLOW_PAUSE_S = 0.02
CONTINUE_S = 2.0
"""Time limit for the status 100 that a client asks for with ``Expect``, in seconds. Clients send the body after a second or so anyway."""
SHORT_BYTES = 200_000
HOST = "www.example.test:8080"
VALUE = 'one; of, "many" fields'
TARGET = "/own/a%2Fb;c=d%20e?f=%26&g=h"
EARLY_BYTES = 1 << 16
"""Size of the part of a body that is sent before the early response, in bytes. It fits into the buffers of sockets."""


@dataclass(frozen=True, slots=True)
class HttpProxy:
    """The proxy under test, and the backend behind it."""

    server: Server
    backend: RecordingBackend

    def connect(self) -> Connection:
        return self.server.connect()

    def bytes_of(self, path: str, *fields: tuple[str, str], method: str = "GET") -> bytes:
        """Return the head of a request."""
        return self.server.request_bytes(*fields, method=method, path=path)

    def get(self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> Response:
        """Send a request without a body on a new connection, and return the response. Raises :class:`ExchangeError`."""
        server, request = self.server, Request(method=method, path=path, headers=dict(headers or {}))
        return exchange(server.host, server.port, request, server.patience_s, server.transport)[0]

    def arrived(self) -> list[Recorded]:
        """Return the requests that have arrived at the backend since the last call."""
        return self.backend.take()


HttpClause = tuple[str, Callable[[HttpProxy], str | None], tuple[Limit, ...]]
"""A clause: its name, its check, and the limits that excuse a failure. The check returns a problem or ``None``."""


def check_http_proxy(proxied: Server, backend: RecordingBackend, limits: tuple[Limit, ...]) -> list[Check]:
    """Check every clause that the transport allows, the most important first.

    ``proxied`` is the proxy, as the server that a client sees.
    """
    checks = []
    for name, function, excuses in _clauses_for(proxied.transport):
        limit = next((limit for limit in excuses if limit in limits), None)
        proxy = HttpProxy(replace(proxied, timeout_s=LIMIT_S if limit is None else DECLARED_LIMIT_S), backend)
        proxy.arrived()  # forget the requests of earlier clauses
        try:
            problem = function(proxy)
        except ExchangeError as error:
            problem = str(error)
        except OSError as error:
            problem = f"could not be reached: {error.strerror or error}"
        checks.append(Check(name, problem, limit, declared=limit is not None, excuses=excuses))
    return checks


def _clauses_for(transport: Transport) -> Iterable[HttpClause]:
    if transport.http2:
        return (clause for clause in CLAUSES if clause[1] in FOR_HTTP2)
    return (clause for clause in CLAUSES if transport == PLAIN or clause[1] is not serves_many_connections)


def _as_server(check: Callable[[Server], str | None]) -> Callable[[HttpProxy], str | None]:
    """Return a check of servers as a check of proxies."""
    return lambda proxy: check(proxy.server)


def forwards_requests_unchanged(proxy: HttpProxy) -> str | None:
    for method in ("GET", "PUT", "DELETE"):
        proxy.get(TARGET, method, {"Host": HOST, "X-End": VALUE})
        requests = proxy.arrived()
        if len(requests) != 1:
            return f"{method}: {len(requests)} requests arrived at the backend for one that was sent"
        (request,) = requests
        if request.line[:2] != [method, TARGET]:
            return f"`{method} {TARGET}` arrived as `{' '.join(request.line[:2])}`"
        if request.field("x-end") != VALUE:
            return f"`X-End: {VALUE}` arrived as `{request.field('x-end')}`"
    return None


def forwards_the_host(proxy: HttpProxy) -> str | None:
    proxy.get("/", headers={"Host": HOST})
    hosts = [value for request in proxy.arrived() for name, value in request.fields if name == "host"]
    return None if hosts == [HOST] else f"`Host: {HOST}` arrived as {' and '.join(f'`{host}`' for host in hosts) or 'nothing'}"


def relays_bodies_of_requests(proxy: HttpProxy) -> str | None:
    body = pattern(BODY_BYTES)
    stated = (("Content-Length", str(len(body))), body, "a body of a stated length")
    coded = (("Transfer-Encoding", "chunked"), chunked(body), "a chunked body")
    for field, framed, words in (stated, coded):
        with proxy.connect() as connection:
            connection.send(proxy.bytes_of("/digest", field, method="POST") + framed)
            response = connection.receive("POST")
        if problem := _digest_problem(response, body):
            return f"{words}: {problem}"
    return None


def relays_bodies_of_responses(proxy: HttpProxy) -> str | None:
    body = pattern(BODY_BYTES)
    for path, words in (("length", "a body of a stated length"), ("chunked", "a chunked body"), ("until-close", "a body until the end")):
        if problem := _body_problem(proxy.get(f"/{path}/{BODY_BYTES}"), body):
            return f"{words}: {problem}"
    return None


def removes_hop_by_hop_fields(proxy: HttpProxy) -> str | None:
    own = tuple((name, "1") for name in FOR_THE_NEXT_HOP)
    with proxy.connect() as connection:
        connection.send(proxy.bytes_of("/hop-by-hop", ("Connection", "X-Hop, keep-alive"), *own, ("X-End", "1")))
        response = connection.receive()
    request = next(iter(proxy.arrived()), None)
    if request is None or request.field("x-end") is None or response.header("X-End") is None:
        return "`X-End`, which is for the other end, was removed"
    came = {(name.lower(), value) for name, value in response.headers}
    problems = [
        f"{', '.join(f'`{name}`' for name in names)} in {where}"
        for where, names in (
            ("a request", [name for name in FOR_THE_NEXT_HOP if request.field(name.lower()) is not None]),
            # A proxy may use Keep-Alive itself, but then not with the backend's value.
            ("a response", [name for name in FOR_THE_NEXT_HOP if (name.lower(), "1") in came]),
        )
        if names
    ]
    return f"forwarded {' and '.join(problems)}" if problems else None


def asks_for_each_response(proxy: HttpProxy) -> str | None:
    for _ in range(3):
        proxy.get("/cacheable")
    requests = proxy.arrived()
    if len(requests) < 3:
        return f"only {len(requests)} of 3 equal requests arrived at the backend: the other responses came from a cache"
    conditions = {name for request in requests for name, _ in request.fields if name.startswith("if-")}
    if conditions or any(request.line[0] != "GET" for request in requests):
        return f"the proxy asked whether its own copy was still current ({', '.join(sorted(conditions)) or 'HEAD'})"
    return None


def responds_without_bodies(proxy: HttpProxy) -> str | None:
    sent = (("HEAD", "/length/10", 200), ("GET", "/status/204", 204), ("GET", "/status/304", 304), ("HEAD", "/chunked/10", 200))
    with proxy.connect() as connection:
        for method, path, status in sent:
            connection.send(proxy.bytes_of(path, method=method))
            response = connection.receive(method)
            if response.status != status:
                return f"{method} {path}: {_status(response)}"
            methods = [request.line[0] for request in proxy.arrived() if request.line[1] == path]
            if methods != [method]:
                return f"{method} arrived at the backend as {' and '.join(methods) or 'nothing'}"
            if problem := proxy.server.problem(proxy.server.ask(connection)):
                return f"after the response to {method} {path}: {problem}"
    return None


def relays_an_early_response(proxy: HttpProxy) -> str | None:
    with proxy.connect() as connection:
        connection.send(proxy.bytes_of("/early", ("Content-Length", str(2 * EARLY_BYTES)), method="POST") + bytes(EARLY_BYTES))
        response = connection.receive("POST")
    return _body_problem(response, b"early", status=403)


def handles_interim_responses(proxy: HttpProxy) -> str | None:
    return proxy.server.problem(proxy.get("/interim"))


def continues_on_request(proxy: HttpProxy) -> str | None:
    body = pattern(1000)
    fields = (("Content-Length", str(len(body))), ("Expect", "100-continue"))
    with Connection(proxy.server.host, proxy.server.port, CONTINUE_S, proxy.server.transport) as connection:
        connection.send(proxy.bytes_of("/digest", *fields, method="POST"))
        interim = connection.receive_any("POST")
        if interim.status != 100:
            return f"status {interim.status} instead of 100"
        connection.send(body)
        return _digest_problem(connection.receive("POST"), body)


def reports_a_truncated_response(proxy: HttpProxy) -> str | None:
    for path, words in (("short", "Content-Length"), ("short-chunked", "chunks")):
        try:
            response = proxy.get(f"/{path}/{SHORT_BYTES}")
        except ExchangeError:
            continue
        if response.status < 500:
            return f"a response that ended early ({words}) arrived as a complete one of {len(response.body):,} bytes"
    return None


def survives_a_reset_of_the_backend(proxy: HttpProxy) -> str | None:
    with proxy.connect() as connection:
        connection.send(proxy.bytes_of("/reset", ("Content-Length", "0"), method="POST"))
        try:
            response = connection.receive("POST")
        except ExchangeError as error:
            if not connection.ended:
                return str(error)
        else:
            if response.status not in (500, 502, 503, 504):
                return f"status {response.status} instead of 502"
    if problem := proxy.server.problem(proxy.get("/")):
        return f"afterward: {problem}"
    return None


def survives_the_end_of_a_backend_connection(proxy: HttpProxy) -> str | None:
    with proxy.connect() as connection:
        for path in ("/close", "/", "/close", "/"):
            connection.send(proxy.bytes_of(path))
            if problem := proxy.server.problem(connection.receive()):
                return problem
    return None


def loses_nothing_for_a_slow_reader(proxy: HttpProxy) -> str | None:
    with proxy.connect() as connection:
        connection.send(proxy.bytes_of(f"/chunked/{SLOW_BYTES}"))
        for _ in range(SLOW_PARTS):
            time.sleep(SLOW_PAUSE_S)
            connection.surplus(0.0)
        return _body_problem(connection.receive(), pattern(SLOW_BYTES))


def serves_many_connections(proxy: HttpProxy) -> str | None:
    async def own(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, word: str) -> str:
        writer.write(proxy.bytes_of(f"/own/{word}"))
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        _, _, after = head.partition("content-length:")
        length = after.partition("\r\n")[0].strip()
        return (await reader.readexactly(int(length) if length.isdigit() else 0)).decode(errors="replace")

    with open_files.raised(OWN_FILES):
        return proxy.backend.run(on_many_connections(proxy.server.host, proxy.server.port, own)).result(2 * MANY_LIMIT_S)


def _body_problem(response: Response, body: bytes, status: int = 200) -> str | None:
    if response.status != status:
        return _status(response)
    return None if response.body == body else f"other bytes arrived, {len(response.body):,} instead of {len(body):,}"


def _digest_problem(response: Response, body: bytes) -> str | None:
    if response.status != 200:
        return _status(response)
    return None if response.body == digest(body).encode() else "the backend received other bytes"


def _status(response: Response) -> str:
    return f"status {response.status}"


_responds_to_head = _as_server(server_clauses.responds_to_head)

CLAUSES: tuple[HttpClause, ...] = (
    ("forwards method, target and fields unchanged", forwards_requests_unchanged, ()),
    ("forwards Host", forwards_the_host, ()),
    ("asks the backend for each response", asks_for_each_response, ()),
    ("relays bodies of requests, chunked or not, byte for byte", relays_bodies_of_requests, ()),
    ("relays bodies of responses, chunked or not, byte for byte", relays_bodies_of_responses, ()),
    ("removes hop-by-hop fields, both ways", removes_hop_by_hop_fields, (Limit.FORWARDS_HOP_BY_HOP,)),
    ("keeps the connection open", _as_server(server_clauses.keeps_connection), ()),
    ("keeps it open although the backend closes its own", survives_the_end_of_a_backend_connection, ()),
    ("closes on Connection: close", _as_server(server_clauses.closes_on_request), ()),
    ("responds to pipelined requests in order", _as_server(pipelining_problem), (Limit.NO_PIPELINING,)),
    ("accepts a request in single bytes", _as_server(splitting_problem), ()),
    ("reads a body with its request", _as_server(reads_bodies), ()),
    ("responds to a request pipelined behind a body", _as_server(reads_bodies_in_a_pipeline), (Limit.NO_BODY_PIPELINING,)),
    ("responds to HEAD without a body", _responds_to_head, ()),
    ("relays responses without a body: to HEAD, and with status 204 or 304", responds_without_bodies, ()),
    ("relays an early response while the client is still sending", relays_an_early_response, (Limit.NO_EARLY_RESPONSE,)),
    ("relays the response that follows 103 Early Hints", handles_interim_responses, (Limit.NO_INTERIM,)),
    ("sends 100 Continue on request", continues_on_request, ()),
    ("never presents a truncated response as complete", reports_a_truncated_response, (Limit.HIDES_TRUNCATION,)),
    ("reports a reset of the backend, and keeps working", survives_a_reset_of_the_backend, ()),
    ("loses nothing for a slow reader", loses_nothing_for_a_slow_reader, ()),
    (f"carries {CONNECTIONS:,} connections at once, each with its own responses", serves_many_connections, ()),
)

FOR_HTTP2 = (
    forwards_requests_unchanged,
    forwards_the_host,
    asks_for_each_response,
    relays_bodies_of_responses,
    _responds_to_head,
    handles_interim_responses,
    reports_a_truncated_response,
)
"""The checks that don't write bytes of HTTP/1.1."""

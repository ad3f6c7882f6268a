"""Compare a response with the one that the workload expects, and wait until a starting server responds correctly."""

from __future__ import annotations

import hashlib
import re
import ssl
import time
from collections.abc import Callable

from httpbench.errors import StartError
from httpbench.http.exchange import begin_stream, exchange
from httpbench.http.response import ExchangeError, NoResponseError, Response
from httpbench.http.rules import rule_problems
from httpbench.http.transport import PLAIN, Transport
from httpbench.model import Expectation, SampledResponse, Workload
from httpbench.text import one_line

SHOWN = 60
"""Maximum number of bytes that a message quotes from a body."""

OPENSSL_PLACES = re.compile(r"^\[.*?\]\s*|(?<!\s)\s*\(_ssl\.c:\d+\)$")
"""Parts of OpenSSL's messages that name files and libraries."""

RETRY_S = 0.005
ATTEMPT_S = 1.0  # doubles after each attempt without a response, because the first response of some servers takes many seconds
WRONG_FOR_S = 1.0  # a starting server may send 503 or another certificate, but incorrect responses for this long mean that it is broken


def problems(response: Response, surplus: bytes, expect: Expectation) -> list[str]:
    """Return all problems with a response, each as a clause. ``surplus`` contains the bytes after the response."""
    found = []
    if expect.status is None and not 200 <= response.status < 300:
        found.append(f"status {response.status} instead of a success (2xx)")
    elif expect.status is not None and response.status != expect.status:
        found.append(f"status {response.status} instead of {expect.status}")
    if expect.content_type not in (None, given := response.media_type):
        found.append(f"Content-Type `{given}` instead of `{expect.content_type}`" if given else "no Content-Type")
    found += [f"no {name} header" for name in expect.headers if response.header(name) is None]
    if expect.body_bytes is not None and len(response.body) != expect.body_bytes:
        found.append(f"a body of {len(response.body):,} bytes instead of {expect.body_bytes:,}")
    elif expect.body is not None and response.body != expect.body.encode():
        found.append(f"body `{_shown(response.body)}` instead of `{_shown(expect.body.encode())}`")
    elif expect.body_sha256 is not None and hashlib.sha256(response.body).hexdigest() != expect.body_sha256:
        found.append(f"an unexpected body: its SHA-256 is not {expect.body_sha256}")
    found += rule_problems(response, expect)
    if surplus:
        found.append(f"{len(surplus)} bytes after the end of the response: `{_shown(surplus)}`")
    return found


def check(host: str, port: int, workload: Workload, transport: Transport = PLAIN) -> list[str]:
    """Send one request and return all problems with the response, each as a clause."""
    try:
        return problems(*_exchange(host, port, workload, 2.0, transport), workload.expect)
    except ExchangeError as error:
        return [str(error)]
    except OSError as error:
        return [f"could not be reached: {error.strerror or error}"]


def wait_until_correct(
    host: str, port: int, workload: Workload, timeout_s: float, alive: Callable[[], bool], transport: Transport = PLAIN
) -> SampledResponse:
    """Wait until the server responds correctly to the workload's request, and return that response.

    Some servers lose a request that arrives while they are starting. If there is no response, the request is therefore sent again on
    another connection. Raises :class:`StartError` if the server exits, doesn't respond in time, or keeps responding incorrectly.
    """
    deadline = time.monotonic() + timeout_s
    attempt_s = ATTEMPT_S
    wrong_since: float | None = None
    problem = f"did not listen on port {port} within {timeout_s:g} s"
    hint: str | None = None
    while time.monotonic() < deadline:
        if not alive():
            raise StartError("ended before it responded")
        hint = None
        try:
            limit_s = max(min(attempt_s, deadline - time.monotonic()), 0.001)
            response, surplus = _exchange(host, port, workload, limit_s, transport)
        except ssl.SSLCertVerificationError as error:
            problem = f"its certificate is not trusted: {error.verify_message}"
            hint = "trust its authority with --cacert FILE, or accept any certificate with -k"
        except ssl.SSLError as error:
            problem = f"failed the TLS handshake: {one_line(OPENSSL_PLACES.sub('', str(error)).replace('_', ' ').lower())}"
        except OSError as error:
            if not isinstance(error, ConnectionRefusedError):
                problem = f"could not be reached: {error.strerror or error}"
            time.sleep(RETRY_S)
            continue
        except NoResponseError:
            problem = f"did not respond within {timeout_s:g} s"
            attempt_s *= 2
            continue
        except ExchangeError as error:
            problem = str(error)
        else:
            wrong = problems(response, surplus, workload.expect)
            if not wrong:
                return sampled(response)
            problem = "responded incorrectly: " + "; ".join(wrong)
            hint = _hint(response, workload.expect)
        wrong_since = wrong_since or time.monotonic()
        if time.monotonic() - wrong_since > WRONG_FOR_S:
            break
        time.sleep(RETRY_S)
    raise StartError(problem, hint=hint)


def _exchange(host: str, port: int, workload: Workload, timeout_s: float, transport: Transport) -> tuple[Response, bytes]:
    """Send one request. Returns the response, or only its head if it is an event stream, and the bytes after it."""
    if workload.sse:
        return begin_stream(host, port, workload.request, timeout_s, transport), b""
    return exchange(host, port, workload.request, timeout_s, transport)


def sampled(response: Response) -> SampledResponse:
    """Return the response in the form that is stored and shown."""
    return SampledResponse(
        status=response.status,
        headers=response.headers,
        body=response.body.decode(errors="replace"),
        body_sha256=hashlib.sha256(response.body).hexdigest(),
        size_bytes=response.size_bytes,
    )


def _hint(response: Response, expect: Expectation) -> str | None:
    """Return which options make the request or the expectation fit, or ``None`` if the request doesn't come from the command line.

    Only a workload from the command line accepts any successful status.
    """
    status, location = response.status, response.header("location")
    if expect.status is not None or 200 <= status < 300:
        return None
    if status in (401, 403):
        fix = "send credentials with -H 'Authorization: …'"
    elif 300 <= status < 400:
        fix = f"request {one_line(location)[:SHOWN]} instead, with --path or --url" if location else "request another path with --path"
    elif status >= 500:
        fix = "look for the reason in the server's log"
    else:
        fix = "request another path with --path, or change the request with -X and -H"
    return f"{fix}, or measure this response with --expect-status {status}"


def _shown(data: bytes) -> str:
    text = one_line(data[:SHOWN].decode(errors="replace"))
    return text + "…" if len(data) > SHOWN else text

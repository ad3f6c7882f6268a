"""Is an answer right, and when does a server begin to answer rightly."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

from httpbench.errors import StartError
from httpbench.model import Expectation, SampledResponse, Workload
from httpbench.probe.exchange import Answer, ExchangeError, NoAnswerError, ask

RETRY_S = 0.005
ATTEMPT_S = 1.0  # the first; each further one waits twice as long, as some servers need many seconds for their first answer
WRONG_FOR_S = 1.0  # a server that still starts may answer 503 for a moment; one that answers wrongly for this long will not mend
SHOWN = 60


def problems(answer: Answer, surplus: bytes, expect: Expectation) -> list[str]:
    """All that is wrong with an answer, a clause each; none when it is right."""
    found = []
    if expect.status is None and not 200 <= answer.status < 300:
        found.append(f"status {answer.status}, which is no success")
    elif expect.status is not None and answer.status != expect.status:
        found.append(f"status {answer.status} instead of {expect.status}")
    if expect.content_type is not None:
        media_type = (answer.header("content-type") or "").partition(";")[0].strip().lower()
        if media_type != expect.content_type:
            found.append(f"Content-Type «{media_type}» instead of «{expect.content_type}»" if media_type else "no Content-Type")
    found += [f"no {name} header" for name in expect.headers if answer.header(name) is None]
    if expect.body is not None and answer.body != expect.body.encode():
        found.append(f"body «{_shown(answer.body)}» instead of «{_shown(expect.body.encode())}»")
    if expect.body_bytes is not None and len(answer.body) != expect.body_bytes:
        found.append(f"a body of {len(answer.body):,} bytes instead of {expect.body_bytes:,}")
    elif expect.body_sha256 is not None and hashlib.sha256(answer.body).hexdigest() != expect.body_sha256:
        found.append(f"another body than expected: its SHA-256 is not {expect.body_sha256}")
    if surplus:
        found.append(f"{len(surplus)} bytes more than its framing says: «{_shown(surplus)}»")
    return found


def wait_until_right(host: str, port: int, workload: Workload, timeout_s: float, alive: Callable[[], bool]) -> SampledResponse:
    """Waits until the server answers the workload rightly, and returns that answer.

    Some servers lose what comes in the very moment in which they start, so silence does not end the wait: another connection asks again.
    Raises :class:`StartError` when it ends, does not answer in time, or goes on answering wrongly.
    """
    deadline = time.monotonic() + timeout_s
    attempt_s = ATTEMPT_S
    wrong_since: float | None = None
    wrong = f"did not listen on port {port} within {timeout_s:g} s"
    while time.monotonic() < deadline:
        if not alive():
            raise StartError("ended before it answered")
        try:
            answer, surplus = ask(host, port, workload.request, max(min(attempt_s, deadline - time.monotonic()), 0.001))
        except ConnectionRefusedError:
            time.sleep(RETRY_S)
            continue
        except OSError as error:
            wrong = f"could not be reached: {error.strerror or error}"
            time.sleep(RETRY_S)
            continue
        except NoAnswerError:
            wrong = f"did not answer within {timeout_s:g} s"
            attempt_s *= 2
            continue
        except ExchangeError as error:
            wrong = str(error)
        else:
            wrong = "answered wrongly: " + "; ".join(problems(answer, surplus, workload.expect))
            if not problems(answer, surplus, workload.expect):
                return sampled(answer)
        wrong_since = wrong_since or time.monotonic()
        if time.monotonic() - wrong_since > WRONG_FOR_S:
            break
        time.sleep(RETRY_S)
    raise StartError(wrong)


def check(host: str, port: int, workload: Workload) -> list[str]:
    """Asks once: all that is wrong, as clauses."""
    try:
        return problems(*ask(host, port, workload.request), workload.expect)
    except ExchangeError as error:
        return [str(error)]
    except OSError as error:
        return [f"could not be reached: {error.strerror or error}"]


def sampled(answer: Answer) -> SampledResponse:
    return SampledResponse(
        status=answer.status,
        headers=answer.headers,
        body=answer.body.decode(errors="replace"),
        body_sha256=hashlib.sha256(answer.body).hexdigest(),
        size_bytes=answer.size_bytes,
    )


def _shown(data: bytes) -> str:
    text = data[:SHOWN].decode(errors="replace")
    return text + "…" if len(data) > SHOWN else text

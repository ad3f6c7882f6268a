"""Wait until a starting server responds correctly."""

from __future__ import annotations

import time
from collections.abc import Callable

from httpbench.errors import StartError
from httpbench.http.correct import problems, sampled
from httpbench.http.exchange import ExchangeError, NoResponseError, exchange
from httpbench.model import SampledResponse, Workload

RETRY_S = 0.005
ATTEMPT_S = 1.0  # each further attempt waits twice as long, as some servers take many seconds for their first response
WRONG_FOR_S = 1.0  # a starting server may respond 503 for a moment; one that is wrong for this long stays wrong


def wait_until_correct(host: str, port: int, workload: Workload, timeout_s: float, alive: Callable[[], bool]) -> SampledResponse:
    """Wait until the server responds correctly to the workload's request, and return that response.

    Some servers lose a request that arrives exactly while they start. Silence therefore doesn't end the wait: another connection repeats
    it. Raises :class:`StartError` if the server ends, doesn't respond in time, or keeps responding incorrectly.
    """
    deadline = time.monotonic() + timeout_s
    attempt_s = ATTEMPT_S
    wrong_since: float | None = None
    problem = f"did not listen on port {port} within {timeout_s:g} s"
    while time.monotonic() < deadline:
        if not alive():
            raise StartError("ended before it responded")
        try:
            response, surplus = exchange(host, port, workload.request, max(min(attempt_s, deadline - time.monotonic()), 0.001))
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
        wrong_since = wrong_since or time.monotonic()
        if time.monotonic() - wrong_since > WRONG_FOR_S:
            break
        time.sleep(RETRY_S)
    raise StartError(problem)

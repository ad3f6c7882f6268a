"""Check the contract of a server or a proxy, clause by clause.

The clauses for clients are in ``run``, because checking them requires running the client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

VERSION = 1
"""Version of the contract, which is recorded with each verification. Raise it when a target that has passed could now fail."""

if TYPE_CHECKING:
    from httpbench.contract.ambiguous import ambiguous_outcomes
    from httpbench.contract.backend import HELLO_WORKLOAD, ScriptedBackend
    from httpbench.contract.check import Check, limits_to_declare
    from httpbench.contract.http_proxy_clauses import check_http_proxy
    from httpbench.contract.proxy_clauses import check_proxy
    from httpbench.contract.recording_backend import RecordingBackend
    from httpbench.contract.server_clauses import check_server, clauses_for
    from httpbench.contract.world_clauses import drawing_problem, rows_in
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)

"""Check the contract of a server or a proxy, clause by clause.

The clauses for clients are in ``run``, because checking them requires running the client.
"""

from __future__ import annotations

from httpbench.contract.backend import HELLO_WORKLOAD, ScriptedBackend
from httpbench.contract.check import Check
from httpbench.contract.proxy_clauses import check_proxy
from httpbench.contract.server_clauses import check_server, clauses_for
from httpbench.contract.world_clauses import drawing_problem, row_ids

__all__ = ["HELLO_WORKLOAD", "Check", "ScriptedBackend", "check_proxy", "check_server", "clauses_for", "drawing_problem", "row_ids"]

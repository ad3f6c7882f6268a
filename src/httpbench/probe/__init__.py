"""Is this server right, and how real is it; does this proxy relay."""

from __future__ import annotations

from httpbench.probe.answer import check, wait_until_right
from httpbench.probe.contract import Check, check_all
from httpbench.probe.label import MEANINGS, TRAITS, contradiction
from httpbench.probe.observe import observe
from httpbench.probe.peer import HELLO_WORKLOAD, Peer
from httpbench.probe.relay import check_relay

__all__ = [
    "HELLO_WORKLOAD",
    "MEANINGS",
    "TRAITS",
    "Check",
    "Peer",
    "check",
    "check_all",
    "check_relay",
    "contradiction",
    "observe",
    "wait_until_right",
]

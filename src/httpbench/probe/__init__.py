"""Is this server right, and how real is it."""

from __future__ import annotations

from httpbench.probe.answer import check, wait_until_right
from httpbench.probe.contract import Check, check_all

__all__ = ["Check", "check", "check_all", "wait_until_right"]

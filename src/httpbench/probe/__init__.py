"""Find out how much of HTTP a server implements, with experiments outside the measured time. The result is one label."""

from __future__ import annotations

from httpbench.probe.label import MEANINGS, TRAITS, contradiction
from httpbench.probe.observe import observe

__all__ = ["MEANINGS", "TRAITS", "contradiction", "observe"]

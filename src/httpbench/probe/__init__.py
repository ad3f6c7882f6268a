"""Find out how much of HTTP a server really implements: experiments outside the measured time, and one label for the result."""

from __future__ import annotations

from httpbench.probe.label import MEANINGS, TRAITS, contradiction
from httpbench.probe.observe import observe

__all__ = ["MEANINGS", "TRAITS", "contradiction", "observe"]

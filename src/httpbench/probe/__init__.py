"""How real is a server: experiments outside the measured time, and one label for what they show."""

from __future__ import annotations

from httpbench.probe.label import MEANINGS, TRAITS, contradiction
from httpbench.probe.observe import observe

__all__ = ["MEANINGS", "TRAITS", "contradiction", "observe"]

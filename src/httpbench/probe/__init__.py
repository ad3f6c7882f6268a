"""Find out how much of HTTP a server implements.

Experiments send unusual requests outside the measured time. A label summarizes their results.
"""

from __future__ import annotations

from httpbench.probe.label import MEANINGS, TRAITS, contradiction
from httpbench.probe.observe import observe

__all__ = ["MEANINGS", "TRAITS", "contradiction", "observe"]

"""Find out how much of HTTP a server implements.

Experiments send unusual requests outside the measured time. A label summarizes their results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.probe.label import MEANINGS, TRAITS, contradiction
    from httpbench.probe.observation import observe
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)

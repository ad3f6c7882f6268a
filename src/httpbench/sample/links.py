"""Compute how full the machine's network links were: their traffic relative to their speed or to a rate limit of ``tc``.

If a link is full, the programs that send or receive through it look idle. Loopback and other virtual links have no speed, so they are full
only if they reach a rate limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from httpbench.model import LinkUse
from httpbench.sample.link_limits import SHAPERS

CLASS_KEY = "tc class "
HTB_CLASS = re.compile(
    r"^class htb (?P<id>\S+) (?:root|parent (?P<parent>\S+)) .*?\bceil (?P<ceil>[\d.]+)(?P<unit>[KMGT]?)bit\b", re.MULTILINE
)
FRAMING_BYTES = 24
"""Size of the preamble, checksum and gap of an Ethernet frame (IEEE 802.3), which the kernel doesn't count."""


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """Capacities of the links, by interface, in bit/s."""

    physical: Mapping[str, float]
    """Speeds of physical links, in each direction."""
    shaped: Mapping[str, float]
    """Limits on the sending rate that are set with ``tc``."""


def limits(texts: Mapping[str, str]) -> LinkLimits:
    """Parse the texts that :func:`httpbench.sample.link_limits.read` returned."""
    speeds = {Path(path).parent.name: float(text) * 1e6 for path, text in texts.items() if text.strip().isdecimal()}
    shaped: dict[str, float] = {}
    for name, bits_per_s in (*_shaped(texts.get(SHAPERS[0], "")), *_by_class(texts)):
        shaped[name] = min(bits_per_s, shaped.get(name, bits_per_s))
    return LinkLimits({name: speed for name, speed in speeds.items() if speed > 0}, shaped)


def fullest_link(before: str, after: str, elapsed_s: float, limits: LinkLimits) -> LinkUse | None:
    """Return the link that was fullest between two readings of ``/proc/net/dev``; ``None`` if no link has a known capacity."""
    first, last = _counters(before), _counters(after)
    found = []
    for name in first.keys() & last.keys():
        received, sent = (_bits_per_s(first[name][side], last[name][side], elapsed_s) for side in (0, 1))
        if capacity := limits.physical.get(name):
            on_the_wire = max(bits + 8 * FRAMING_BYTES * packets for bits, packets in (received, sent))
            found.append(LinkUse(name=name, bits_per_s=on_the_wire, capacity_bits_per_s=capacity))
        if capacity := limits.shaped.get(name):
            found.append(LinkUse(name=name, bits_per_s=sent[0], capacity_bits_per_s=capacity))
    return max(found, key=lambda link: link.share, default=None)


def _shaped(shapers: str) -> Iterator[tuple[str, float]]:
    """Yield the interface and the rate of each limit that tbf, netem or cake sets."""
    try:
        disciplines = json.loads(shapers or "[]")
    except ValueError:
        return  # an old tc without JSON
    for each in disciplines:
        options = each.get("options", {})
        rate = options.get("rate", options.get("bandwidth"))
        rate = rate.get("rate") if isinstance(rate, dict) else rate
        if isinstance(rate, int) and rate > 0:
            yield each["dev"], 8.0 * rate


def _by_class(texts: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """Yield the interfaces with HTB classes, each with the highest rate that any of its classes may reach.

    Which class handles which traffic isn't known, so a link whose traffic is in a slower class doesn't look full.
    """
    for key, text in texts.items():
        if key.startswith(CLASS_KEY):
            classes = {found["id"]: (found["parent"], _bits(found["ceil"], found["unit"])) for found in HTB_CLASS.finditer(text)}
            leaves = classes.keys() - {parent for parent, _ in classes.values()}
            if reachable := [_ceiling(classes, leaf) for leaf in leaves]:
                yield key.removeprefix(CLASS_KEY), max(reachable)


def _ceiling(classes: Mapping[str, tuple[str | None, float]], name: str) -> float:
    """Return the lowest ceiling of a class and its ancestors, in bit/s."""
    parent, ceiling = classes[name]
    return min(ceiling, _ceiling(classes, parent)) if parent is not None and parent in classes else ceiling


def _bits(number: str, unit: str) -> float:
    return float(number) * 1000.0 ** ("", "K", "M", "G", "T").index(unit)


def _counters(text: str) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """Parse ``/proc/net/dev``. Returns, for each interface, the bytes and packets received, and the bytes and packets sent."""
    found = {}
    for line in text.splitlines()[2:]:
        name, _, numbers = line.partition(":")
        columns = [int(number) for number in numbers.split()]
        found[name.strip()] = ((columns[0], columns[1]), (columns[8], columns[9]))
    return found


def _bits_per_s(before: tuple[int, int], after: tuple[int, int], elapsed_s: float) -> tuple[float, float]:
    """Return the bits per second and the packets per second."""
    return (8 * (after[0] - before[0]) / elapsed_s, (after[1] - before[1]) / elapsed_s)

"""Tests of the use of network links, from the kernel's counters and the output of ``tc``."""

from __future__ import annotations

import json

import pytest

from httpbench.sample.links import fullest_link, limits

HEAD = "Inter-|   Receive    |  Transmit\n face |bytes    packets errs\n"
SPEED = "/sys/class/net/eth0/device/net/eth0/speed"


def dev(**counts: tuple[int, int, int, int]) -> str:
    """Return the text of ``/proc/net/dev``. For each interface, ``counts`` has the bytes and packets received, and then those sent."""
    return HEAD + "".join(f"{name}: {one[0]} {one[1]} 0 0 0 0 0 0 {one[2]} {one[3]} 0 0 0 0 0 0\n" for name, one in counts.items())


def tc(**options: object) -> str:
    return json.dumps([{"kind": "noqueue", "dev": "eth1", "options": {}}, {"kind": "tbf", "dev": "lo", "options": options}])


def test_a_physical_link_counts_its_fuller_direction_and_the_framing() -> None:
    link = fullest_link(dev(eth0=(0, 0, 0, 0)), dev(eth0=(10**6, 10**4, 2 * 10**6, 10**4)), 2.0, limits({SPEED: "1000\n"}))
    assert link is not None
    assert (link.name, link.capacity_bits_per_s) == ("eth0", 1e9)
    assert link.bits_per_s == pytest.approx(8 * (2 * 10**6 + 24 * 10**4) / 2)


@pytest.mark.parametrize("options", [{"rate": 125_000}, {"bandwidth": 125_000}, {"rate": {"rate": 125_000, "cellsize": 0}}])
def test_a_rate_limit_applies_to_sending(options: dict[str, object]) -> None:
    link = fullest_link(dev(lo=(0, 0, 0, 0)), dev(lo=(9 * 10**6, 1, 10**5, 1)), 1.0, limits({"tc": tc(**options)}))
    assert link is not None
    assert link.share == pytest.approx(0.8)


HTB = """class htb 1:10 parent 1:1 prio 0 rate 20Mbit ceil 30Mbit burst 1600b cburst 1593b
class htb 1:20 parent 1:1 leaf 8001: prio 0 rate 200Kbit ceil 1500Kbit burst 1600b cburst 1593b
class htb 1:1 root rate 50Mbit ceil 80Mbit burst 1600b cburst 1600b
"""


@pytest.mark.parametrize(
    ("classes", "capacity"), [(HTB, 30e6), (HTB.replace("80Mbit", "8Mbit"), 8e6), (HTB.replace("30Mbit", "1Gbit"), 80e6)]
)
def test_the_highest_class_within_its_ancestors_limits_a_link(classes: str, capacity: float) -> None:
    shapers = json.dumps([{"kind": "htb", "dev": "lo", "options": {}}])
    link = fullest_link(dev(lo=(0, 0, 0, 0)), dev(lo=(0, 0, 10**5, 1)), 1.0, limits({"tc": shapers, "tc class lo": classes}))
    assert link is not None and link.capacity_bits_per_s == capacity


@pytest.mark.parametrize("texts", [{}, {SPEED: "-1\n"}, {"tc": ""}, {"tc": tc()}, {"tc": tc(bandwidth="unlimited")}, {"tc": "qdisc"}])
def test_links_without_a_known_capacity_are_unknown(texts: dict[str, str]) -> None:
    counts = dev(lo=(0, 0, 0, 0), eth0=(0, 0, 0, 0))
    assert fullest_link(counts, counts, 1.0, limits(texts)) is None
    assert fullest_link("", "", 1.0, limits({SPEED: "1000"})) is None


def test_of_several_links_the_fullest_counts() -> None:
    before, after = dev(lo=(0, 0, 0, 0), eth0=(0, 0, 0, 0)), dev(lo=(0, 0, 10**5, 1), eth0=(10**5, 1, 0, 0))
    link = fullest_link(before, after, 1.0, limits({SPEED: "10", "tc": tc(rate=125_000)}))
    assert link is not None and link.name == "lo"

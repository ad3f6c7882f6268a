"""Frames of profiled stacks: names that are the same in two builds of a program, and the area of the system to which a frame belongs.

Profiles have only names, so areas follow from the words in them:

- Locks: functions that wait for a lock or take one, and all that they call. Functions that release a lock don't count. Without hardware
  counters, interrupts take the samples, so functions that allow interrupts again, such as ``_raw_spin_unlock_irqrestore``, get the samples
  of the code before them.
- Network: functions of the kernel with a word such as ``tcp`` or ``skb`` in their names, and all functions of the kernel that they call.
- Kernel: the other functions of the kernel.
- User: everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache

from httpbench.model import KERNEL_MARK

UNKNOWN = "[unknown]"
"""Name of functions that the profiler couldn't name."""


class Area(StrEnum):
    """Part of the system to which a frame belongs."""

    USER = "user"
    NETWORK = "network"
    LOCKS = "locks"
    KERNEL = "kernel"


_LOCK = re.compile(
    r"futex|mutex|spin_?lock|rw_?lock|rwsem|semaphore|osq_lock|lll_lock|lock_slow|lock_contended|take_gil|objectmonitor|runtime\.(?:lock|sema)",
    re.IGNORECASE,
)
_RELEASE = re.compile(r"unlock|release", re.IGNORECASE)

_NETWORK = re.compile(
    r"(?:^_*ip|(?:^|_)(?:tcp[46]?|udp6?|inet6?|ip6|ipv[46]|unix|sock|socket|sk|skb|net|netif|napi|nf|nft|xmit|qdisc|loopback|backlog|eth"
    r"|send(?:to|msg|mmsg)|recv(?:from|msg|mmsg)|accept4?))(?=_|$)"
)
"""Words in the names of functions of the network stack. ``ip`` counts only as the first word, because it can also be an instruction
pointer."""

_BUILD = re.compile(
    r"::h[0-9a-f]{16}$"  # hash of a Rust function
    r"|(?:\.(?:part|isra|constprop|cold|llvm|lto_priv)(?:\.\d+){0,9}){1,9}$"  # copy of a function by GCC or LLVM
)
_TIMER = re.compile(r"^asm_sysvec_apic_timer_interrupt")
_ADDRESS = re.compile(r"(?:\[?0x[0-9a-f]+\]?|\[?unknown\]?)", re.IGNORECASE)
_HEX = re.compile(r"[/+@]?\b0x[0-9a-f]{4,}\b", re.IGNORECASE)
_TIER = re.compile(r"^(JS|Function|LazyCompile|Builtin|Interpreted):[*~^+]?")
_NAMELESS = "(anonymous)"
"""Name of functions of JavaScript that only their line identifies."""
_FOLDERS = re.compile(r"(?:file://)?(?<![\w.])/(?:[^/\s()]+/)+(?=[^/\s()]+)")
_LINES = re.compile(r"(\.\w+)(?::\d+){1,2}(?=\)?$)")


@lru_cache(maxsize=65_536)
def frame_name(frame: str) -> str:
    """Return the name of a frame without the parts that differ between builds of the same function.

    These are hashes, addresses, suffixes of compilers, the tiers of just-in-time compilers, folders, and line numbers. Frames of the kernel
    keep their mark.

        >>> frame_name("app::parse::h0123456789abcdef")
        'app::parse'
        >>> frame_name("JS:*handler /srv/app/server.js:12:3")
        'JS:handler server.js'
    """
    name, mark = (frame.removesuffix(KERNEL_MARK), KERNEL_MARK) if frame.endswith(KERNEL_MARK) else (frame, "")
    if not name or _ADDRESS.fullmatch(name):
        return UNKNOWN + mark
    name = _HEX.sub("", _BUILD.sub("", name))
    name = _FOLDERS.sub("", _TIER.sub(r"\1:", name))
    if not name.startswith(_NAMELESS):
        name = _LINES.sub(r"\1", name)
    return (name or UNKNOWN) + mark


def frames(stack: str) -> tuple[str, ...]:
    """Return the names of the frames of a folded stack, outermost first.

    The kernel doesn't call functions of programs. Its frames outside of theirs come from wrong addresses, and are left out. A timer's
    interrupt, often the profiler's own, counts for the function that it interrupts, unless the kernel then handles packets.
    """
    found = [frame_name(frame) for frame in stack.split(";")]
    program = max((index for index, name in enumerate(found) if not name.endswith(KERNEL_MARK)), default=-1)
    kept = [name for index, name in enumerate(found) if index > program or not name.endswith(KERNEL_MARK)]
    timer = next((index for index, name in enumerate(kept) if _TIMER.search(name)), 0)
    return tuple(kept[:timer] if timer and not any("softirq" in name for name in kept[timer:]) else kept)


def areas(stack: Iterable[str]) -> Iterator[Area]:
    """Yield the area of each frame of a stack, outermost first."""
    caller = Area.USER
    for name in stack:
        caller = area(name, caller)
        yield caller


@lru_cache(maxsize=65_536)
def area(name: str, caller: Area) -> Area:
    """Return the area of a frame whose caller belongs to ``caller``."""
    if caller is Area.LOCKS or (_LOCK.search(name) and not _RELEASE.search(name)):
        return Area.LOCKS
    if not name.endswith(KERNEL_MARK):
        return Area.USER
    is_network = caller is Area.NETWORK or _NETWORK.search(name.removesuffix(KERNEL_MARK))
    return Area.NETWORK if is_network else Area.KERNEL

"""Small functions that read kernel files. They return ``None`` if a file is missing or unreadable."""

from __future__ import annotations

from pathlib import Path

CPU = Path("sys/devices/system/cpu")
NODE = Path("sys/devices/system/node")
CLOCKSOURCE = Path("sys/devices/system/clocksource/clocksource0")


def read_text(path: Path) -> str | None:
    """Return the file's content without surrounding whitespace, or ``None`` if it is missing, empty or unreadable."""
    try:
        return path.read_text(errors="replace").strip() or None
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """Return the number in a file, or ``None`` if the file doesn't contain exactly one integer."""
    try:
        return int(read_text(path) or "")
    except ValueError:
        return None


def cpu_list(text: str) -> tuple[int, ...]:
    """Parse the kernel's list format: ``0-2,8`` becomes ``(0, 1, 2, 8)``."""
    cpus: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cpus))


def cpu_text(cpus: tuple[int, ...]) -> str:
    """Format CPUs for ``taskset -c``: the reverse of :func:`cpu_list`."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)

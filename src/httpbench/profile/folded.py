"""Stacks as text: one line per stack, with its frames separated by semicolons, outermost first, and the number of samples at its end.

Most profilers can write this format, which comes from Brendan Gregg's FlameGraph (https://github.com/brendangregg/FlameGraph).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from httpbench.errors import ProfileError
from httpbench.model import KERNEL_MARK

COUNT = re.compile(r"[0-9]{1,15}")

PROCESS = re.compile(r"process \d+:.*")
"""Outermost frame in which py-spy names the process. It differs between the copies of a target."""

SCRIPT = re.compile(r"(?:JS|LazyCompile|Function|Script|Eval):[*~^+]?(.*)")
"""Name of a JavaScript function in the map of V8: its kind, how it was compiled, its name and its place."""

PLACE = re.compile(r"(?:.*/)?([^/]*?)(?::(\d+))?(?::\d+)?")
"""File, line and column of a function."""


WAITS = re.compile(
    r"(?:\w+\.)*(?:(?:select|poll) \(selectors\.py\)|(?:accept|readinto) \(socket\.py\)|wait \(threading\.py\)"
    r"|(?:run|run_forever|run_until_complete) \((?:asyncio|uvloop)/\w+\.py\))"
)
"""Frame of a function in Python's standard library or uvloop that waits for requests."""


def without_waits(stacks: Mapping[str, int], samples_max: int) -> dict[str, int]:
    """Return the stacks with fewer samples of functions that wait, so that no more than ``samples_max`` are left if possible.

    A sampler of wall-clock time leaves out a program that waits. But if a request arrives while the sampler looks, the program may be
    ready to run again, and the sample counts for the function that waited.
    """
    excess = sum(stacks.values()) - samples_max
    waiting = sum(count for stack, count in stacks.items() if _waits(stack))
    if excess <= 0 or not waiting:
        return dict(stacks)
    kept = max(1 - excess / waiting, 0.0)
    fitted = {stack: round(count * kept) if _waits(stack) else count for stack, count in stacks.items()}
    return {stack: count for stack, count in fitted.items() if count}


def _waits(stack: str) -> bool:
    return WAITS.fullmatch(stack, stack.rfind(";") + 1) is not None


def folded(text: str, profiler: str) -> dict[str, int]:
    """Parse folded stacks. Raises :class:`ProfileError` with the first line that isn't a stack and a number."""
    found: Counter[str] = Counter()
    for line in text.splitlines():
        if not line.strip():
            continue
        stack, _, count = line.rstrip().rpartition(" ")
        if not stack or not COUNT.fullmatch(count):
            raise ProfileError(f'{profiler} wrote "{line[:80]}", which is not a folded stack', hint="each line is frames;frames NUMBER")
        frames = stack.split(";")
        if len(frames) > 1 and PROCESS.fullmatch(frames[0]):
            frames = frames[1:]
        found[";".join(frames)] += int(count)
    return dict(found)


def frame(symbol: str, dso: str, *, is_kernel: bool) -> str:
    """Return the name of a frame, which is the same for each start and each build of a program.

    ``symbol`` is the function, and ``dso`` the file that contains it. Functions without a name are combined by file.
    """
    if symbol == "[unknown]":
        name = "[kernel]" if is_kernel else f"[{dso.rpartition('/')[2].strip('[]') or 'unknown'}]"
    elif script := SCRIPT.fullmatch(symbol):
        name = _script_name(script[1])
    else:
        name = symbol
    return name.replace(";", ",") + (KERNEL_MARK if is_kernel else "")


def _script_name(text: str) -> str:
    """Return a function of JavaScript with its file, such as ``burn (server.js)``, and with its line if it has no name."""
    function, separator, place = text.rpartition(" ")
    placed = PLACE.fullmatch(place)
    if not separator or placed is None:
        return text
    file, line = placed.groups()
    if function:
        return f"{function} ({file})"
    return f"(anonymous) ({file}:{line})" if line else f"(anonymous) ({file})"

"""Read the lines that a load generator prints while it runs."""

from __future__ import annotations

import os
import select

from httpbench.run.load.place import RunningGenerator

POLL_S = 0.1
"""Maximum time to wait for lines, in seconds. Between waits, the caller checks its time limit and the target."""


class StderrLines:
    """The standard error of a running load generator, line by line."""

    def __init__(self, running: RunningGenerator):
        self._running = running
        self.rest = ""
        """The beginning of a line whose end hasn't arrived yet."""

    def arrived(self) -> list[str] | None:
        """Return the next complete lines, or an empty list after ``POLL_S`` seconds without lines.

        Returns ``None`` once the generator has ended and all lines have been returned.
        """
        running, ended = self._running, bool(self._running.exits())
        sources = [running.stderr] if ended else [running.stderr, running.events]
        if running.stderr not in select.select(sources, [], [], 0 if ended else POLL_S)[0]:
            return None if ended else []
        *lines, self.rest = (self.rest + os.read(running.stderr, 65_536).decode(errors="replace")).split("\n")
        return lines

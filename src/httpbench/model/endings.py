"""How a target ends if not as it should, as the beginnings of clauses. Its figures count; a table says it all the same."""

from __future__ import annotations

CRASHED = "crashed on SIGTERM"
IGNORED_SIGTERM = "did not end on SIGTERM"
LEFT_PROCESSES = "left processes running after SIGTERM"
HELD_PORT = "its port accepted connections"
FILLED_LOG = "wrote more to its log than is kept"

ENDINGS = (CRASHED, IGNORED_SIGTERM, LEFT_PROCESSES, HELD_PORT, FILLED_LOG)
LOST_HOST = "the connection to load host"
LOST_WORKER = "lost load host"
"""Both begin the reason of a trial whose load host was lost: it says nothing of the target."""

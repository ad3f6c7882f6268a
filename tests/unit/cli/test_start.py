"""What each call of the command costs before it does anything."""

from __future__ import annotations

import subprocess
import sys


def test_what_is_slow_to_load_is_loaded_only_where_it_is_used() -> None:
    program = "import sys, httpbench.cli.main; print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"

"""``python -m httpbench``: the command line."""

from __future__ import annotations

from httpbench.cli import main

if __name__ == "__main__":
    main()

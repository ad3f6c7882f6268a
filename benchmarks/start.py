#!/usr/bin/env python3
"""Measure how long commands take to start, in pairs with another checkout.

    benchmarks/start.py [--python OTHER/.venv/bin/python] [--starts 20]

For `run`, the time ends when the first server's guard starts. For the other verbs, it ends when the command ends. The CPU time (user and
system, of the command itself) is the lower quartile of all starts, because other programs can only make a start slower. The limit for `run`
is 0.3 s.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

SERVER = f"{sys.executable} -m http.server --bind {{host}} {{port}}"
VERBS = {
    "--help": ("--help",),
    "run": ("run", SERVER, SERVER, "--name", "a", "--name", "b", "--no-wait"),
    "bench --dry-run": ("bench", "c/epoll", "--dry-run"),
    "list": ("list",),
    "runs": ("runs",),
}
LIMITS_S = {"--help": 0.25, "run": 0.3}
PROGRAM = """
import atexit, os, sys, time
def report():
    print(f"CPU {time.process_time()}", file=sys.stderr, flush=True)
def watch(event, arguments):
    if event == "subprocess.Popen" and str(arguments[1][-1]).endswith("guard.py"):
        report()
        os._exit(0)
sys.addaudithook(watch)
atexit.register(report)
from httpbench.cli import main
main()
"""


def start(python: str, words: tuple[str, ...], home: str) -> tuple[float, float]:
    """Return the CPU time and the wall time of a start, in seconds."""
    folders = {"XDG_DATA_HOME": home, "XDG_STATE_HOME": home, "HTTPBENCH_LOCKS": home}
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | folders
    begin = time.monotonic()
    done = subprocess.run([python, "-c", PROGRAM, *words], env=env, capture_output=True, text=True, check=False, timeout=60)
    wall_s = time.monotonic() - begin
    line = done.stderr.splitlines()[-1] if done.stderr else ""
    if not line.startswith("CPU "):
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr}")
    return float(line.removeprefix("CPU ")), wall_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="the Python of another checkout to compare with")
    parser.add_argument("--starts", type=int, default=20, help="starts of each verb")
    options = parser.parse_args()
    pythons = [sys.executable, *filter(None, [options.python])]
    passed = True
    with tempfile.TemporaryDirectory() as home:
        for name, words in VERBS.items():
            for python in pythons:
                start(python, words, home)  # compiles the bytecode
            found = [[start(python, words, home) for python in pythons] for _ in range(options.starts)]
            columns = []
            for times in zip(*found, strict=True):
                cpu_s, wall_s = (statistics.quantiles(values, n=4, method="inclusive")[0] for values in zip(*times, strict=True))
                columns.append(f"CPU {cpu_s:.3f} s, wall {wall_s:.3f} s")
                if len(columns) == 1 and cpu_s > LIMITS_S.get(name, cpu_s):
                    passed = False
            print(f"{name:<16} {'  before: '.join(columns)}", flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measure the share of a core that ``TreeSampler`` needs for ten processes at its default interval.

Each process has 4 threads and 30 MB of memory in use, like a small server. The cost is the CPU time of this program while only the sampler
runs. The program prints one line, and fails if the share is 1% or more.

    python benchmarks/sampler.py [seconds]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from httpbench.isolate import Command, ProcessTree
from httpbench.model import build_validators
from httpbench.sample import TreeSampler

PROCESSES = 10
BOUND = 0.01
SERVER = """
import threading, time
memory = bytearray(30 << 20)
for page in range(0, len(memory), 4096):
    memory[page] = 1
for _ in range(3):
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
time.sleep(3600)
"""


def main() -> int:
    duration_s = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "log"
        commands = [Command((sys.executable, "-S", "-c", SERVER), Path(scratch), {}) for _ in range(PROCESSES)]
        with ProcessTree(commands, stdout=log, stderr=log) as tree:
            time.sleep(2)  # wait until the processes have started their threads and used their memory
            sampler = TreeSampler(tree.guard_pid)
            build_validators()  # as before each run's first window
            begin_s, cpu_begin_s = time.monotonic(), time.process_time()
            sampler.start()
            time.sleep(duration_s)
            usage = sampler.stop()
            cpu_s, elapsed_s = time.process_time() - cpu_begin_s, time.monotonic() - begin_s
    share = cpu_s / elapsed_s
    print(f"{share:.2%} of a core: {usage.processes_peak} processes, {len(usage.samples)} samples in {elapsed_s:.1f} s")
    return 0 if share < BOUND and usage.processes_peak == PROCESSES else 1


if __name__ == "__main__":
    sys.exit(main())

"""Fake control group trees (version 2, or version 1 with one folder per controller), and a command prefix that hides the real trees."""

from __future__ import annotations

from pathlib import Path

WITHOUT_GROUPS = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh")
"""Command prefix that hides this machine's control groups from the command. It requires root."""

PID = 7
OWN = "docker/abc"

VERSION_2 = {
    "cpu.max": "50000 100000\n",
    "cpu.stat": "usage_usec 2500000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1500000\n",
    "memory.max": "67108864\n",
    "memory.peak": "1000000\n",
    "memory.events": "low 0\noom 2\noom_kill 1\n",
    "cpuset.cpus.effective": "0-2,5\n",
    "cgroup.procs": "7\n8\n",
    "cgroup.freeze": "0\n",
    "cgroup.events": "populated 1\nfrozen 0\n",
}
VERSION_1 = {
    "cpu/cpu.cfs_quota_us": "50000\n",
    "cpu/cpu.cfs_period_us": "100000\n",
    "cpu/cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n",
    "cpu/cgroup.procs": "7\n8\n",
    "cpuacct/cpuacct.usage": "2500000000\n",
    "memory/memory.limit_in_bytes": "67108864\n",
    "memory/memory.max_usage_in_bytes": "1000000\n",
    "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    "cpuset/cpuset.cpus": "0-2,5\n",
    "freezer/freezer.state": "THAWED\n",
}
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "freezer", "memory")


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def version_2(root: Path, **changes: str) -> Path:
    """Create the group of process 7 and return its folder. ``changes`` maps file names, with ``_`` for a dot, to new contents."""
    write(root, f"proc/{PID}/cgroup", f"0::/{OWN}\n")
    write(root, "proc/self/mountinfo", "25 1 0:22 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n")
    group = root / "sys/fs/cgroup" / OWN
    for name, text in {**VERSION_2, **{name.replace("_", "."): text for name, text in changes.items()}}.items():
        write(group, name, text)
    return group


def version_1(root: Path) -> Path:
    """Create the groups of process 7 and return the folder that contains them."""
    mount = root / "sys/fs/cgroup"
    write(root, f"proc/{PID}/cgroup", "".join(f"{at}:{name}:/{OWN}\n" for at, name in enumerate(CONTROLLERS, 1)) + "0::/elsewhere\n")
    lines = [f"{at} 1 0:{at} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n" for at, name in enumerate(CONTROLLERS, 30)]
    write(root, "proc/self/mountinfo", "".join(lines) + "40 1 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n")
    for name, text in VERSION_1.items():
        controller, _, file = name.partition("/")
        write(mount / controller / OWN, file, text)
    return mount

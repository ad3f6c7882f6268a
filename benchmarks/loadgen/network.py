"""Run all compared programs with the same TCP congestion control, in a network namespace if the system allows it."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

SETTING = Path("/proc/sys/net/ipv4/tcp_congestion_control")
INSIDE = "LOADGEN_COMPARISON_NAMESPACE"
"""Environment variable that marks the process inside the namespace."""
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def use_one_congestion_control(name: str) -> str:
    """Rerun the command in a network namespace that uses this congestion control, and return a sentence that describes the setting.

    The setting applies only in the namespace, so the rest of the machine isn't affected. The command isn't rerun if ``name`` is ``system``,
    or if this machine doesn't allow network namespaces. Raise ValueError if the namespace can't use ``name``.
    """
    system = f"the system's ({SETTING.read_text().strip()})"
    if name == "system":
        return f"Congestion control: {system} for servers and peers; httpbench-loadgen has a default of its own."
    if INSIDE not in os.environ:
        refused = (
            subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True, check=False) if shutil.which("unshare") else None
        )
        if refused is None or refused.returncode != 0:
            reason = "unshare is not installed" if refused is None else refused.stderr.strip()
            left = "pacing, as BBR does, costs them CPU time that it may not cost httpbench-loadgen, which has a default of its own"
            return f"Congestion control: {system} for servers and peers, because no network namespace is allowed here ({reason}); {left}."
        os.environ[INSIDE] = "1"
        sys.stdout.flush()
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    bring_loopback_up()
    try:
        SETTING.write_text(name)
    except OSError as error:
        hint = f"the machine must allow it: sysctl -w net.ipv4.tcp_allowed_congestion_control='reno {name}'"
        raise ValueError(f"cannot use the congestion control {name} in a namespace ({error.strerror}); hint: {hint}") from error
    return f"Congestion control: {name} for all programs, in a network namespace of their own."


def bring_loopback_up() -> None:
    request = struct.Struct("16sh14x")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        _, flags = request.unpack(fcntl.ioctl(any_socket, SIOCGIFFLAGS, request.pack(b"lo", 0)))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request.pack(b"lo", flags | IFF_UP))

"""The guard: a small process between the harness and the programs that it starts, so that no program outlives the harness.

The guard is a separate program (``python -I -S guard.py``, standard library only). Each target, load generator and build has its own guard.
The guard is the *child subreaper* of all processes below it: a daemon that detaches itself, or a worker whose parent died, becomes the
guard's child and can't escape. When the harness ends or is killed, the guard's standard input closes. The guard then kills all its
descendants and ends. A parent-death signal wouldn't be enough: it reaches only direct children, and the kernel also sends it when the
*thread* that started them ends.

The guard itself can be killed, for example when memory runs out. Its parent is therefore a *keeper*: a process of the same program that
only waits. If the guard dies, its processes become children of the keeper, which is a subreaper too and kills them. If the keeper dies, a
pipe notifies the guard, which kills its processes. If the keeper and the guard are killed at once, the harness kills the remaining
processes (see ``adopted.py``). Processes survive only if the harness is killed at that moment, too.

If this user may change httpbench's control group (version 2), the guard creates a subgroup for the commands. ``cgroup.kill`` kills all
processes of the subgroup in one step, including set-uid programs, and ``cgroup.freeze`` freezes them (see ``freezer.py``). The keeper and
the guard hold a lock on the subgroup's folder. If no process holds the lock, both were killed. The next guard then kills the processes in
the subgroup and removes the subgroup.

The protocol is one JSON object per line in both directions. The guard first reads ``{"commands": [{"argv", "cwd", "env", "cpus", "stdin",
"timer"}], "stdout": PATH, "stderr": PATH|null, "open_files": N}``. If ``stderr`` is ``null``, the commands inherit the guard's standard
error. If both paths are the same, the file is a log; when it grows large, only its end is kept. ``stdin`` is the path of a command's input,
by default ``/dev/null``. ``timer`` is null or the path of ``httpbench-timer``, which then executes the command and reports the time. Later,
the guard reads ``{"stop": GRACE_S}`` or ``{"kill": true}``. If it reads an end of file instead, the harness was killed, and the guard stops
everything within ``orphan_grace_s`` of the first line. The guard prints ``started`` (with its own process id, the commands' group, and the
times from the timers) or ``failed``, then ``exited`` for each command that ends, and at the end ``stopped`` or ``killed``.

If the first line has a command ``last``, the guard runs it after everything has ended, unless it reads ``{"done": true}`` first. The
harness sends this once it has cleaned up by itself.

The guard sends SIGTERM to a shell's whole process group, because shells don't pass signals on.

A guard starts within about 15 ms and uses 10 MB of memory, most of which it shares with its keeper. It checks the log's size four times a
second.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import struct
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # importing these types at run time would delay the start
    from collections.abc import Callable, Iterator

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LOG_LIMIT_BYTES = 16 << 20
LOG_KEPT_BYTES = 64 << 10
LOG_CHECK_S = 0.25  # a program's output in a quarter of a second fits on any disk
SHELLS = ("sh", "bash", "dash", "zsh")
CLONE_INTO_CGROUP = 0x200000000
SYS_CLONE3 = 435
GROUP_PREFIX = "httpbench-guard-"
CGROUP_MOUNTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
KILL_LIMIT_S = 5.0  # time after which a process that survives SIGKILL is reported
ABANDONED_LIMIT_S = 1.0
LAST_LIMIT_S, LAST_POLL_S = 60.0, 0.1
OOM_SCORE_ADJ_MIN = 500  # of 1000: when memory runs out, the kernel kills a command rather than the harness with its results

libc = ctypes.CDLL(None, use_errno=True)


def descendants() -> list[int]:
    """Return every process below this one."""
    children = lister()
    found: list[int] = []
    pending = [os.getpid()]
    while pending:
        below = children(pending.pop()) or []
        found += below
        pending += below
    return found


def lister() -> Callable[[int], list[int] | None]:
    """Return a function that lists the children of a process."""
    # A kernel without CONFIG_PROC_CHILDREN has no files that list children. In that case, read the parent of every process.
    return children_of if os.path.exists(f"/proc/self/task/{os.getpid()}/children") else children_by_parent().get


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children", "rb", 0) as file:  # without a buffer, opening the file takes half the time
                found += map(int, file.read().split())
        except OSError:
            continue
    return found


def children_by_parent() -> dict[int, list[int]]:
    """Return the children of every process, by parent."""
    found: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                data = file.read()
        except OSError:
            continue
        parent = int(data[data.rindex(b")") + 2 :].split(None, 2)[1])  # the name before these fields may contain spaces and parentheses
        found.setdefault(parent, []).append(int(name))
    return found


def name_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return f"{file.read().strip()} (pid {pid})"
    except OSError:
        return f"pid {pid}"


def send_signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # the process is gone, or it is a set-uid program, which `stop` reports if it survives


def kill(pids: list[int]) -> None:
    """Send SIGKILL to each of these processes that is still below this one, and to all others below it.

    A process can end at any time, and its id can then belong to a program that isn't ours. A pidfd always refers to the same process,
    which is ours if it's still below this one after the pidfd was opened.
    """
    opened: dict[int, int] = {}
    try:
        for pid in pids:
            try:
                opened[pid] = os.pidfd_open(pid)
            except ProcessLookupError:
                pass
            except OSError:
                break  # the kernel is older than 5.3, or the limit on open files has been reached
        for pid in descendants():
            if pid in opened:
                try:
                    signal.pidfd_send_signal(opened[pid], signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass  # as in `send_signal`
            else:
                send_signal(pid, signal.SIGKILL)
    finally:
        for descriptor in opened.values():
            os.close(descriptor)


def make_group() -> str | None:
    """Create a control group (version 2) below our own, and return its path.

    Return ``None`` if we may not change our own group, or if it has controllers enabled for its subgroups.
    """
    try:
        with open("/proc/self/cgroup") as file:
            own = next(line.rstrip("\n")[3:] for line in file if line.startswith("0::"))
        mount = next(path for path in CGROUP_MOUNTS if os.path.exists(f"{path}/cgroup.procs"))
        parent = f"{mount}{own}".rstrip("/")
        with open(f"{parent}/cgroup.subtree_control") as file:
            if file.read().strip():
                return None
        remove_abandoned(parent)
        group = f"{parent}/{GROUP_PREFIX}{os.getpid()}"
        os.mkdir(group)
        if os.path.exists(f"{group}/cgroup.freeze") and lock(group) is not None:  # the keeper and the guard hold the lock until they end
            return group
        remove_group(group)
    except (OSError, StopIteration):
        pass
    return None


def lock(group: str) -> int | None:
    """Lock a control group's folder. Return the descriptor that holds the lock, or ``None`` if another process holds it."""
    descriptor = os.open(group, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_abandoned(parent: str) -> None:
    """Kill the processes in groups whose keeper and guard were killed, and remove the groups."""
    for name in os.listdir(parent):
        if not name.startswith(GROUP_PREFIX):
            continue
        group = f"{parent}/{name}"
        try:
            descriptor = lock(group)
        except OSError:
            continue  # the group was removed in the meantime
        if descriptor is None:
            continue
        deadline = time.monotonic() + ABANDONED_LIMIT_S
        while (left := members(group)) and time.monotonic() < deadline:
            write_to(group, "cgroup.kill", "1")
            for pid in left:
                send_signal(pid, signal.SIGKILL)
            time.sleep(0.002)
        remove_group(group)
        os.close(descriptor)


def members(group: str) -> list[int]:
    """Return the processes in a control group. Processes of another PID namespace are left out, because they have no id in ours."""
    try:
        with open(f"{group}/cgroup.procs") as file:
            return [pid for pid in map(int, file) if pid]
    except OSError:
        return []


def remove_group(group: str) -> None:
    try:
        os.rmdir(group)
    except OSError:
        pass  # a process in the group could not be killed


def write_to(group: str, name: str, text: str) -> None:
    try:
        with open(f"{group}/{name}", "w") as file:
            file.write(text)
    except OSError:
        pass  # the caller also sends a signal to each process


def end_all(group: str | None, reap: Callable[[], object]) -> list[str]:
    """Send SIGKILL until no process is left below this one. Returns the names of the killed processes."""
    killed: dict[int, str] = {}
    deadline = time.monotonic() + KILL_LIMIT_S
    while (left := descendants()) and time.monotonic() < deadline:
        for pid in left:
            killed.setdefault(pid, name_of(pid))
        if group:
            write_to(group, "cgroup.kill", "1")
        kill(left)
        time.sleep(0.002)
        reap()
    return list(killed.values())


def is_shell(command: dict[str, Any]) -> bool:
    program, *words = command["argv"]
    return os.path.basename(program) in SHELLS and bool(words) and words[0].startswith("-") and words[0].endswith("c")


def append_to(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)


def fork_into(group: str | None) -> int:
    """Fork a child that starts in the control group. Return its process id, or 0 in the child.

    Moving the child to the group after the fork would take about 10 ms, because the kernel waits for an RCU grace period.
    """
    if group is None:
        return os.fork()
    try:
        folder = os.open(group, os.O_RDONLY)
    except OSError:
        return os.fork()
    arguments = struct.pack("=11Q", CLONE_INTO_CGROUP, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, folder)
    # PyDLL holds the interpreter's lock during the call, as os.fork does.
    pid: int = ctypes.PyDLL(None).syscall(SYS_CLONE3, arguments, len(arguments))
    if pid == 0:
        return 0
    os.close(folder)
    if pid < 0:  # the kernel is older than 5.7, or the container forbids clone3
        pid = os.fork()
        if pid == 0:
            write_to(group, "cgroup.procs", "0")
    return pid


def expendable() -> None:
    """Let the kernel kill this process first when memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "r+") as file:
            score = max(int(file.read()), OOM_SCORE_ADJ_MIN)
            file.seek(0)
            file.write(str(score))
    except OSError:
        pass  # /proc is read-only in this container


def become(command: dict[str, Any], open_files: int, stdout: int, stderr: int, error: int) -> None:
    """Turn the forked child into the command. Never returns."""
    try:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        expendable()
        if command["cpus"]:
            os.sched_setaffinity(0, command["cpus"])
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        os.chdir(command["cwd"])
        os.dup2(os.open(command.get("stdin") or os.devnull, os.O_RDONLY), 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        if timer := command.get("timer"):
            os.set_inheritable(error, True)
            os.execve(timer, [timer, "--exec", str(error), *command["argv"]], command["env"])
        os.execvpe(command["argv"][0], command["argv"], command["env"])
    except OSError as problem:
        where = f" ({problem.filename})" if isinstance(problem.filename, str) else ""
        os.write(error, f"{problem.strerror}{where}".encode())
    except BaseException as problem:  # for example a NUL byte, which can't be passed to a program
        os.write(error, str(problem).encode())
    finally:
        os._exit(127)


def time_and_problem(told: str) -> tuple[int | None, str]:
    """Split what a child wrote into the time, which only a timer writes, and the reason why the command isn't running."""
    first, _, rest = told.partition("\n")
    return (int(first), rest.strip()) if first.isdigit() else (None, told)


class Guard:
    def __init__(self, spec: dict[str, Any], wakeup: int, keeper: int, group: str | None):
        self.spec = spec
        self.wakeup = wakeup
        self.keeper = keeper
        self.group = group
        self.pids: list[int] = []
        self.executed_ns: list[int | None] = []
        self.running: set[int] = set()
        self.log: int | None = None
        self.log_bytes_dropped = 0

    def say(self, **event: object) -> None:
        try:
            os.write(1, (json.dumps(event) + "\n").encode())
        except OSError:
            pass  # the harness is gone, so standard input is closed, which will end the guard

    def start(self) -> str | None:
        """Start every command. Returns why a command couldn't start, or ``None``."""
        stdout = append_to(self.spec["stdout"])
        stderr = append_to(self.spec["stderr"]) if self.spec["stderr"] else 2
        if self.spec["stderr"] == self.spec["stdout"]:
            self.log = stdout
        for command in self.spec["commands"]:
            reader, writer = os.pipe()  # the pipe closes on exec, so an end of file without data means that the command is running
            pid = fork_into(self.group)
            if pid == 0:
                become(command, self.spec["open_files"], stdout, stderr, writer)
            os.close(writer)
            self.pids.append(pid)
            self.running.add(pid)
            with os.fdopen(reader) as pipe:
                executed_ns, problem = time_and_problem(pipe.read())
            if problem:
                return problem
            self.executed_ns.append(executed_ns)
        return None

    def reap(self) -> None:
        for pid, status in reaped():
            if pid in self.running:
                self.running.discard(pid)
                self.say(event="exited", index=self.pids.index(pid), code=os.waitstatus_to_exitcode(status))

    def bound_log(self) -> None:
        """Truncate a log that has grown large, but keep its end. Output that programs append in the meantime is lost."""
        if self.log is None or (size := os.fstat(self.log).st_size) <= LOG_LIMIT_BYTES:
            return
        end = os.pread(self.log, LOG_KEPT_BYTES, size - LOG_KEPT_BYTES)
        os.ftruncate(self.log, 0)
        os.write(self.log, end[end.find(b"\n") + 1 :])
        self.log_bytes_dropped += size - len(end)

    def run_last(self) -> None:
        """Run the command that cleans up after a killed harness, such as by removing a container. Kill it if it takes too long."""
        if not (last := self.spec.get("last")):
            return
        nothing = os.open(os.devnull, os.O_RDWR)
        if (pid := os.fork()) == 0:
            become(last, self.spec["open_files"], nothing, nothing, nothing)
        deadline = time.monotonic() + LAST_LIMIT_S
        while time.monotonic() < deadline:
            if any(ended == pid for ended, _ in reaped()):
                return
            select.select([self.wakeup], [], [], LAST_POLL_S)
        self.kill_all()

    def kill_all(self) -> list[str]:
        return end_all(self.group, self.reap)

    def stop(self, grace_s: float, *, whole_groups: bool = False) -> None:
        """Send SIGTERM to each command, wait for the whole tree to end, then send SIGKILL to the processes that are still running.

        With ``whole_groups``, all processes of the commands' process groups get the SIGTERM.
        """
        for pid, command in zip(self.pids, self.spec["commands"], strict=True):
            if pid in self.running:
                send_signal(-pid if whole_groups or is_shell(command) else pid, signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while descendants() and time.monotonic() < deadline:
            select.select([self.wakeup], [], [], 0.005)
            self.reap()
        ignored = [name_of(pid) for pid in self.running]
        left = self.kill_all()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.say(
            event="stopped",
            ignored_sigterm=ignored,
            left_behind=[name for name in left if name not in ignored],
            immortal=[name_of(pid) for pid in descendants()],
            cpu_s=usage.ru_utime + usage.ru_stime,
            log_bytes_dropped=self.log_bytes_dropped,
        )

    def watch(self) -> None:
        """Wait until the harness sends `stop`, or until the harness or the keeper is gone."""
        pending = b""
        while True:
            ready, _, _ = select.select([0, self.wakeup, self.keeper], [], [], LOG_CHECK_S if self.log is not None else None)
            self.bound_log()
            if self.wakeup in ready:
                os.read(self.wakeup, 512)
                self.reap()
            if self.keeper in ready:
                self.kill_all()
                return
            if 0 in ready:
                data = os.read(0, 4096)
                if not data:
                    self.stop(self.spec.get("orphan_grace_s", 0), whole_groups=True)
                    self.run_last()
                    return
                pending += data
                if b"\n" in pending:
                    line, rest = pending.split(b"\n", 1)
                    message = json.loads(line)
                    if message.get("kill"):
                        self.kill_all()
                        self.say(event="killed")
                    else:
                        self.stop(message["stop"])
                    if self.spec.get("last") and not is_done(rest):
                        self.run_last()
                    return


def is_done(received: bytes) -> bool:
    """Return whether the harness reports that it has cleaned up, rather than ending without a word."""
    while b"\n" not in received:
        data = os.read(0, 4096)
        if not data:
            return False
        received += data
    return bool(json.loads(received).get("done"))


def keep(guard: int, group: str | None) -> int:
    """Wait for the guard to end and, if it was killed, kill the processes that it guarded. Returns the guard's exit code."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)  # only the guard keeps its pipes open, so the harness notices at once if the guard ends
    while True:
        pid, status = os.wait()
        if pid == guard:
            break
    code = os.waitstatus_to_exitcode(status)
    if code:
        end_all(group, lambda: list(reaped()))
    if group:
        remove_group(group)
    return abs(code)


def reaped() -> Iterator[tuple[int, int]]:
    """Reap all children that have ended, and yield their process ids and statuses."""
    try:
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            yield child
    except ChildProcessError:
        pass


def main() -> None:
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # The harness decides when to stop, so the guard ignores Ctrl-C and SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    group = make_group()
    keeper, held = os.pipe()  # an end of file means that the keeper is gone
    if pid := os.fork():
        os.close(keeper)
        sys.exit(keep(pid, group))
    os.close(held)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # a fork doesn't inherit this setting
    guard(keeper, group)


def guard(keeper: int, group: str | None) -> None:
    wakeup, wakeup_writer = os.pipe()
    for descriptor in (wakeup, wakeup_writer):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wakeup_writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    spec = json.loads(sys.stdin.buffer.readline() or "{}")
    if "commands" not in spec:
        return  # the harness ended, or gave up, before it sent the commands
    guard = Guard(spec, wakeup, keeper, group)
    try:
        problem = guard.start()
    except OSError as error:
        problem = f"{error.strerror}: {error.filename}" if error.filename else f"{error.strerror}"
    if problem:
        guard.say(event="failed", reason=problem)
        guard.kill_all()
        return
    guard.say(event="started", guard=os.getpid(), pids=guard.pids, group=group, executed_ns=guard.executed_ns)
    guard.watch()
    if group:
        remove_group(group)  # the keeper does it too, unless it was killed


if __name__ == "__main__":
    main()

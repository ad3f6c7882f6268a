"""A network of hosts for tests: linked network namespaces, with an SSH server in the namespace of each load host.

A router connects the target's host to up to four load hosts. Each host has a link to the router with an IPv4 address, an IPv6 address and
a default route. A test can set a link's delay, jitter, loss and rate. If the kernel lacks netem, a process of the test delays packets,
and tests that need jitter, loss or a rate are skipped. Only the networks are separate: the hosts share files, processes and users with this
machine. Each test gets its own keys, known hosts and ssh configuration. The network requires root, iproute2 and openssh-server
(``scripts/install-namespaces``); if they are missing, the test is skipped with the reason.

    with namespaces.network(tmp_path, load_hosts=2) as network:
        network.target.run("httpbench", "bench", "c/nginx", "--load-host", "load1", env=network.env)
        network.load_hosts[0].cut()
        with network.ssh_server(network.load_hosts[1], "by-port", Port=2222): ...

When the block ends, the namespaces and all processes in them are removed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests import delayed_link
from tests.programs import program

LOAD_HOSTS_MAX = 4
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROGRAMS = ("ip", "tc", "ssh", "sshd", "ssh-keygen")
SEPARATION = Path("/run/sshd")
"""An empty folder that sshd needs to start. The system service of sshd would create it, but tests run sshd without the service."""
COMMAND_LIMIT_S = 20.0
START_LIMIT_S = 10.0
END_LIMIT_S = 5.0

ENTRANCE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
NEW_NETWORK, NEW_MOUNTS, SLAVES, DETACH = 0x40000000, 0x20000, 1 << 19 | 1 << 14, 2
def require(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
namespace = os.open("{path}", os.O_RDONLY)
require(libc.setns(namespace, NEW_NETWORK))
os.close(namespace)
require(libc.unshare(NEW_MOUNTS))
require(libc.mount(b"none", b"/", None, SLAVES, None))
require(libc.umount2(b"/sys", DETACH))
require(libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None))
"""
"""``/sys`` shows the devices of the network in which it was mounted, so each host has its own."""

_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Link:
    """Properties of a link. They apply to each direction."""

    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    loss_percent: float = 0.0
    rate_mbit: float = 0.0
    """Maximum rate in Mbit/s. 0 means unlimited."""

    @property
    def is_delay_alone(self) -> bool:
        return self.delay_ms > 0 and self == Link(delay_ms=self.delay_ms)

    @property
    def netem(self) -> list[str]:
        """Arguments for ``tc``, or an empty list if the link has no special properties."""
        words = []
        if self.delay_ms:
            words += ["delay", f"{self.delay_ms:g}ms", *([f"{self.jitter_ms:g}ms"] if self.jitter_ms else [])]
        if self.loss_percent:
            words += ["loss", f"{self.loss_percent:g}%"]
        if self.rate_mbit:
            words += ["rate", f"{self.rate_mbit:g}mbit"]
        return [*words, "limit", "100000"] if words else []


@dataclass(frozen=True, slots=True)
class Host:
    """A host of the network."""

    name: str
    """Name of the host, which ssh also uses."""
    namespace: str
    router: str
    """Name of the router's namespace. The device at the router's end of this host's link has the host's name."""
    address: str
    address6: str
    folder: Path
    """The host's own files: ``bin`` is the first folder in its PATH, ``cache`` is its user's cache folder, and
    ``tmp`` is its folder for temporary files."""

    def argv(self, *words: str) -> list[str]:
        """Return the command line that runs a command on this host."""
        return [_program("ip"), "netns", "exec", self.namespace, *words]

    @property
    def entrance(self) -> str:
        """Code that moves a Python process to this host, as ``ip netns exec`` does."""
        return ENTRANCE.format(path=f"/run/netns/{self.namespace}")

    def run(self, *words: str, timeout_s: float = 120.0, **options: Any) -> subprocess.CompletedProcess[str]:
        options.setdefault("check", False)
        return subprocess.run(self.argv(*words), capture_output=True, text=True, timeout=timeout_s, **options)

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(self.argv(*words), text=True, **options)

    def pids(self) -> set[int]:
        """Return the ids of all processes on this host."""
        return {int(word) for word in _ip("netns", "pids", self.namespace).split()}

    def programs(self, part: str) -> dict[int, str]:
        """Return the command lines on this host that contain ``part``, by process id."""
        found: dict[int, str] = {}
        for pid in self.pids():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found |= {pid: words} if part in words else {}
        return found

    def cut(self) -> None:
        """Take the link down. Packets are lost, and neither side is notified."""
        _ip("-n", self.router, "link", "set", self.name, "down")

    def join(self) -> None:
        """Bring the link up again."""
        _ip("-n", self.router, "link", "set", self.name, "up")
        self._route_back()

    def shape(self, link: Link) -> None:
        """Give the link these properties. Skip the test if the kernel can't do that."""
        for namespace, device in ((self.namespace, "uplink"), (self.router, self.name)):
            _run("tc", "-n", namespace, "qdisc", "delete", "dev", device, "root", check=False)
            added = ("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "netem", *link.netem)
            if link.netem and _run(*added, check=False).returncode:
                pytest.skip("this kernel has no netem: links cannot have a delay")

    def _route_back(self) -> None:
        """Restore the router's IPv6 address, which its interface lost when the link was taken down."""
        gateway6 = self.address6.removesuffix("2") + "1/64"
        _run("ip", "-n", self.router, "address", "replace", gateway6, "dev", self.name, "nodad", check=False)


@dataclass(frozen=True, slots=True)
class Keys:
    """The private and public keys of the user and of the hosts."""

    user: Path
    host: Path
    public: str = field(repr=False)
    host_public: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Network:
    """The hosts, and the ssh configuration that reaches the load hosts by name."""

    target: Host
    load_hosts: tuple[Host, ...]
    ssh_config: Path
    keys: Keys

    @property
    def key(self) -> Path:
        """The private key that the load hosts accept."""
        return self.keys.user

    @contextmanager
    def ssh_server(self, host: Host, name: str, shadow: Path | None = None, **settings: object) -> Iterator[None]:
        """Run another SSH server on a load host with these settings of ``sshd_config``. ``name`` is the base name of the server's files.

        ``shadow`` replaces /etc/shadow for this server only.
        """
        with _ssh_server(host, self.keys, name, settings, shadow):
            yield

    @property
    def ssh(self) -> str:
        """The ssh command with its options."""
        return f"ssh -F {self.ssh_config}"

    @property
    def env(self) -> dict[str, str]:
        """Environment in which httpbench reaches the load hosts."""
        return {**os.environ, "HTTPBENCH_SSH": self.ssh}


@contextmanager
def network(folder: Path, load_hosts: int = 1, link: Link | None = None) -> Iterator[Network]:
    """Create the network and remove it when the block ends. Skip the test if it can't be created. ``link`` applies to each load host."""
    assert 1 <= load_hosts <= LOAD_HOSTS_MAX
    _require()
    prefix = f"hb{os.getpid()}x{next(_numbers)}"
    names = ("target", *(f"load{number + 1}" for number in range(load_hosts)))
    router = f"{prefix}-router"
    with contextlib.ExitStack() as stack:
        stack.enter_context(_namespace(router))
        for version in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
            _run("ip", "netns", "exec", router, "sysctl", "-qw", f"{version}=1")
        hosts = []
        for number, name in enumerate(names):
            stack.enter_context(_namespace(f"{prefix}-{name}"))
            delay_ms = link.delay_ms if number and link and link.is_delay_alone and not _has_netem(router) else 0.0
            if delay_ms:
                stack.enter_context(_delayed_devices(name, f"{prefix}-{name}", router, delay_ms))
            else:
                _plain_devices(name, f"{prefix}-{name}", router)
            hosts.append(_joined(name, f"{prefix}-{name}", router, number, folder / name))
            if number and link is not None and not delay_ms:
                hosts[-1].shape(link)
        target, *loads = hosts
        keys = _keys(folder / "ssh")
        for host in loads:
            stack.enter_context(_ssh_server(host, keys))
        yield Network(target, tuple(loads), _client_config(folder / "ssh", loads, keys), keys)


def _require() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make network namespaces")
    missing = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (scripts/install-namespaces)")
    if _run("unshare", "--net", "true", check=False).returncode:
        pytest.skip("this machine allows no network namespaces")


@contextmanager
def _namespace(name: str) -> Iterator[None]:
    _ip("netns", "add", name)
    try:
        _ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        _end_all(name)
        _run("ip", "netns", "delete", name, check=False)


def _end_all(namespace: str) -> None:
    """Kill the processes that the test left running in a namespace."""
    deadline = time.monotonic() + END_LIMIT_S
    while (left := _run("ip", "netns", "pids", namespace, check=False).stdout.split()) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.02)


def _plain_devices(name: str, namespace: str, router: str) -> None:
    """Create both ends of a link: ``uplink`` on the host, and a device with the host's name on the router."""
    _ip("link", "add", "name", "uplink", "netns", namespace, "type", "veth", "peer", "name", name, "netns", router)


@contextmanager
def _delayed_devices(name: str, namespace: str, router: str, delay_ms: float) -> Iterator[None]:
    """Create devices like ``_plain_devices``, with a process that delays each packet. Skip the test if the kernel has no tun devices."""
    if not Path(delayed_link.TUN).exists():
        pytest.skip("this kernel has neither netem nor tun devices: links cannot have a delay")
    words = (sys.executable, delayed_link.__file__, f"{delay_ms:g}", name, "uplink")
    mover = subprocess.Popen([_program("ip"), "netns", "exec", router, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert mover.stdout is not None
        assert mover.stdout.readline() == "ready\n"
        _ip("-n", router, "link", "set", "uplink", "netns", namespace)
        for place, device in ((namespace, "uplink"), (router, name)):
            _ip("-n", place, "link", "set", device, "txqueuelen", "10000")
        yield
    finally:
        mover.kill()
        mover.wait()


def _has_netem(namespace: str) -> bool:
    """Return whether this kernel can shape links."""
    return _run("tc", "-n", namespace, "qdisc", "replace", "dev", "lo", "root", "netem", "limit", "1000", check=False).returncode == 0


def _joined(name: str, namespace: str, router: str, number: int, folder: Path) -> Host:
    """Configure both ends of a link and return the host."""
    for below in ("bin", "cache", "tmp"):
        (folder / below).mkdir(parents=True, exist_ok=True)
    subnet, subnet6 = f"10.213.{number}", f"fd00:213:{number}:"
    host = Host(name, namespace, router, f"{subnet}.2", f"{subnet6}:2", folder)
    for place, device, last in ((namespace, "uplink", 2), (router, name, 1)):
        _ip("-n", place, "address", "add", f"{subnet}.{last}/24", "dev", device)
        _ip("-n", place, "address", "add", f"{subnet6}:{last}/64", "dev", device, "nodad")
        _ip("-n", place, "link", "set", device, "up")
    _ip("-n", namespace, "route", "add", "default", "via", f"{subnet}.1")
    _ip("-n", namespace, "-6", "route", "add", "default", "via", f"{subnet6}:1")
    return host


def _keys(folder: Path) -> Keys:
    folder.mkdir(mode=0o700)
    for name in ("user", "host"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "httpbench-test", "-f", str(folder / name))
    return Keys(folder / "user", folder / "host", *((folder / f"{name}.pub").read_text() for name in ("user", "host")))


def _python(folder: Path) -> Path:
    """Write a ``python3`` that runs this interpreter. The interpreter's own folder also has programs that a load host may lack."""
    folder.mkdir(exist_ok=True)
    program(folder, "python3", f'exec {shlex.quote(sys.executable)} "$@"')
    return folder


@contextmanager
def _ssh_server(
    host: Host, keys: Keys, name: str = "sshd", more: Mapping[str, object] | None = None, shadow: Path | None = None
) -> Iterator[None]:
    """Run an SSH server on a host. The server accepts the test's key for logins as this user."""
    (host.folder / "authorized_keys").write_text(keys.public)
    config = host.folder / f"{name}_config"
    path = f"{host.folder / 'bin'}:{_python(host.folder / 'python')}:{SYSTEM_PATH}"
    settings: Mapping[str, object] = {
        "HostKey": keys.host,
        "AuthorizedKeysFile": host.folder / "authorized_keys",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PermitRootLogin": "yes",
        "PasswordAuthentication": "no",
        "MaxSessions": 64,
        "SetEnv": f'"PATH={path}" "XDG_CACHE_HOME={host.folder / "cache"}" "TMPDIR={host.folder / "tmp"}"',
        **(more or {}),
    }
    config.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    SEPARATION.mkdir(mode=0o755, exist_ok=True)  # never removed: other tests' SSH servers check it at each connection
    log = host.folder / f"{name}.log"
    # `ip netns exec` gives a program its own mounts, so only this server sees the replaced /etc/shadow.
    mounted = ("sh", "-c", 'mount --bind "$0" /etc/shadow && exec "$@"', str(shadow)) if shadow else ()
    argv = host.argv(*mounted, _program("sshd"), "-D", "-e", "-f", str(config))
    with log.open("wb") as output:
        server = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        _wait_until_listening(server, log)
        yield
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(END_LIMIT_S)


def _wait_until_listening(server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while "Server listening" not in log.read_text(errors="replace"):
        if server.poll() is not None or time.monotonic() > deadline:
            pytest.skip(f"sshd does not start: {' '.join(log.read_text(errors='replace').splitlines()[-2:])}")
        time.sleep(0.02)


def _client_config(folder: Path, hosts: list[Host], keys: Keys) -> Path:
    """Write an ssh configuration with the load hosts' names and keys. With this configuration, ssh doesn't read the user's own files."""
    known = folder / "known_hosts"
    known.write_text(f"* {' '.join(keys.host_public.split()[:2])}\n")
    lines = []
    for host in hosts:
        lines += [f"Host {host.name}", f"  HostName {host.address}"]
    lines += ["Host *", "  User root", f"  IdentityFile {keys.user}", "  IdentitiesOnly yes", "  IdentityAgent none"]
    lines += [f"  UserKnownHostsFile {known}", "  GlobalKnownHostsFile /dev/null", "  StrictHostKeyChecking yes", "  UpdateHostKeys no"]
    config = folder / "config"
    config.write_text("\n".join(lines) + "\n")
    return config


def _ip(*words: str) -> str:
    return _run("ip", *words).stdout


def _run(program: str, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command. With ``check``, raise an error with the command's own message if it fails."""
    done = subprocess.run([_program(program), *words], capture_output=True, text=True, timeout=COMMAND_LIMIT_S, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{program} {' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done


def _program(name: str) -> str:
    return shutil.which(name, path=_path()) or name


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"

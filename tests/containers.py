"""A container engine and a base image for tests.

Tests use a running engine and an existing image if possible. Otherwise, they start an engine or build the image. If that fails, the test
is skipped with the reason.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

ROOT = Path(__file__).parents[1]
PID_FILE = Path("/var/run/docker.pid")
LOCK = Path(tempfile.gettempdir()) / f"httpbench-tests-dockerd-{os.getuid()}.lock"
START_LIMIT_S = 40.0
BASE_LIMIT_S = 600.0
DRIVERS = ("overlay2", "vfs")


def responds() -> bool:
    """Return whether a docker daemon responds to this user."""
    if shutil.which("docker") is None:
        return False
    done = subprocess.run(["docker", "version"], capture_output=True, timeout=30, check=False)
    return done.returncode == 0


@contextmanager
def engine() -> Iterator[str]:
    """Yield ``docker``, starting a daemon if none runs. Test processes share that daemon, and the last one to finish stops it."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        daemon = None if responds() else _start()
        fcntl.flock(lock, fcntl.LOCK_SH)
        try:
            yield "docker"
        finally:
            if daemon is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)  # wait until no other process uses the daemon
                daemon.send_signal(signal.SIGTERM)
                daemon.wait(30)


def _start() -> subprocess.Popen[bytes]:
    """Start a daemon and wait until it responds. Skip the test if that isn't possible."""
    program = _dockerd()
    said = ""
    for driver in DRIVERS:
        _remove_stale_pid()
        with tempfile.NamedTemporaryFile(prefix="httpbench-dockerd-", suffix=".log", delete=False) as log:
            daemon = subprocess.Popen([program, "--storage-driver", driver], stdout=log, stderr=log, start_new_session=True)
        if _comes_up(daemon, responds):
            return daemon
        said = " ".join(Path(log.name).read_text(errors="replace").splitlines()[-1:])
    pytest.skip(f"dockerd does not start: {said}")


def _dockerd() -> str:
    program = shutil.which("dockerd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None:
        pytest.skip("dockerd is not installed: scripts/install-containers")
    if os.geteuid() != 0:
        pytest.skip("only root can start a docker daemon")
    return program


def _comes_up(daemon: subprocess.Popen[bytes], up: Callable[[], bool]) -> bool:
    """Return whether the daemon responds in time; kill it if it doesn't."""
    deadline = time.monotonic() + START_LIMIT_S
    while daemon.poll() is None and time.monotonic() < deadline:
        if up():
            return True
        time.sleep(0.2)
    daemon.kill()
    daemon.wait()
    return False


class PrivateDaemon:
    """A second docker daemon that a test can stop and start. Its clients need the environment variables in ``env``.

    The daemon gets its own bridge. Without one, it would remove the bridge of the machine's daemon.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self.env = {"DOCKER_HOST": f"unix://{folder}/docker.sock"}
        self._program = _dockerd()
        self._bridge = f"hbtest{os.getpid() % 10**6}"
        self._namespace = f"httpbench-test-{uuid4().hex}"  # not the folder's name, because containerd refuses some names
        self._daemon: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        own = self._folder
        argv = [self._program, "--host", self.env["DOCKER_HOST"], "--data-root", str(own / "data"), "--exec-root", str(own / "exec")]
        argv += ["--pidfile", str(own / "pid"), "--bridge", self._bridge, "--iptables=false", "--cgroup-parent", "/httpbench-test"]
        if _ip("link", "show", self._bridge) != 0 and (_ip("link", "add", self._bridge, "type", "bridge") or self._has_no_address()):
            pytest.skip("no network bridge can be made")
        argv += ["--containerd-namespace", self._namespace, "--containerd-plugins-namespace", f"{self._namespace}-plugins"]
        with (own / "log").open("ab") as log:
            self._daemon = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True)
        if not _comes_up(self._daemon, lambda: self.docker("version", check=False).returncode == 0):
            pytest.skip(f"no second dockerd starts: {' '.join((own / 'log').read_text(errors='replace').splitlines()[-1:])}")

    def stop(self) -> None:
        if self._daemon is not None:
            self._daemon.send_signal(signal.SIGTERM)
            self._daemon.wait(60)
            self._daemon = None

    def close(self) -> None:
        """Stop the daemon and remove its mount and its bridge."""
        self.stop()
        subprocess.run(["umount", self._folder / "exec/netns/default"], check=False, capture_output=True)
        _ip("link", "delete", self._bridge)

    def _has_no_address(self) -> bool:
        return _ip("address", "add", "192.168.213.1/28", "dev", self._bridge) != 0 or _ip("link", "set", self._bridge, "up") != 0

    def docker(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, **self.env}
        return subprocess.run(["docker", *words], capture_output=True, text=True, timeout=60, check=check, env=env)


def _ip(*words: str) -> int:
    """Run ``ip`` and return its exit code, or 1 if it isn't installed."""
    program = shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    return 1 if program is None else subprocess.run([program, *words], capture_output=True, check=False, timeout=20).returncode


def _remove_stale_pid() -> None:
    """Remove the PID file of a killed daemon, because the file would keep the next daemon from starting."""
    try:
        pid = int(PID_FILE.read_text())
    except (OSError, ValueError):
        return
    if not Path(f"/proc/{pid}").exists():
        PID_FILE.unlink(missing_ok=True)


def base(docker: str, *packages: str) -> str:
    """Return the name of a minimal Debian image with the given packages. Skip the test if the image can't be built."""
    argv = [str(ROOT / "scripts/debian-base"), docker, ",".join(packages)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=BASE_LIMIT_S, check=False)
    if done.returncode != 0:
        pytest.skip(f"no base image: {done.stderr.strip()[-200:]}")
    return done.stdout.strip()


def docker(*words: str) -> str:
    """Run a docker command and return its output."""
    return subprocess.run(["docker", *words], capture_output=True, text=True, timeout=120, check=True).stdout.strip()


def ours() -> str:
    """Return httpbench's containers. Others are left out, because other programs may use the same engine."""
    return docker("ps", "--all", "--filter", "label=httpbench.owner")


def golang_target(folder: Path, base_image: str) -> str:
    """Build the catalog's net/http server on this machine, write a target with a Dockerfile to ``folder`` and return its id."""
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    source = ROOT / "targets/servers/golang/net-http"
    own = folder / "contained"
    own.mkdir(parents=True)
    env = {**os.environ, "CGO_ENABLED": "0"}
    subprocess.run(["go", "build", "-o", own / "server", "."], cwd=source, env=env, check=True, timeout=300)
    listen = '"./server", "-listen", "{host}:{port}"'
    https = f'https = {{ run = [{listen}, "-cert", "{{cert}}", "-key", "{{key}}"] }}\nhttp2 = ["h2"]'
    return _written(own, "golang", base_image, f"[{listen}]", f'env = {{ GOMAXPROCS = "{{workers}}" }}\n{https}')


def growing_target(folder: Path, base_image: str) -> str:
    """Write a target that leaks 4 MB per request, and return its id."""
    own = folder / "growing"
    own.mkdir(parents=True)
    compile_server(own / "server")
    return _written(own, "c", base_image, '["./server", "{host}", "{port}", "4096"]')


def compile_server(path: Path) -> None:
    """Compile ``contained/server.c`` to a static program."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    subprocess.run(["gcc", "-O2", "-static", "-o", path, ROOT / "tests/contained/server.c"], check=True, timeout=60)


def _written(folder: Path, language: str, base_image: str, run: str, more: str = "") -> str:
    (folder / "Dockerfile").write_text(
        'ARG BASE\nFROM ${BASE}\nWORKDIR /app\nCOPY server ./\nUSER 65534\nEXPOSE 8080\nCMD ["./server", "-listen", "0.0.0.0:8080"]\n'
    )
    (folder / "target.toml").write_text(
        f'kind = "server"\nlanguage = "{language}"\nframework = "{folder.name}"\ncategory = "platform"\n'
        f'upstream = "https://example.org/"\n[container]\nbase = "{base_image}"\n'
        f'[[variant]]\nrun = {run}\nscaling = ["single", "multi"]\n{more}\n'
    )
    return f"{language}/{folder.name}"

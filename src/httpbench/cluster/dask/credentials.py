"""Certificates that protect a Dask cluster, and the rule that clusters of other hosts must be protected.

Dask runs any code that a connected client sends, and clients unpickle what workers return. TLS with certificates on both sides keeps
everyone else out.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from httpbench.cluster.address import is_loopback
from httpbench.errors import UsageError
from httpbench.host.certificates import make_certificate, require_roots

PROTECTED = ("tls://", "wss://")


@dataclass(frozen=True, slots=True)
class Credentials:
    """A certificate authority, and a certificate that it signed with its key. All texts are in PEM format."""

    ca: str = field(repr=False)
    cert: str = field(repr=False)
    key: str | None = field(repr=False)
    """Key of ``cert``. ``None``: it follows the certificate in ``cert``."""


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The scheduler of a Dask cluster."""

    address: str
    """Address such as ``tls://10.0.0.1:8786``."""
    credentials: Credentials | None = None
    """``None``: Dask's own configuration applies."""


def make_credentials() -> Credentials:
    """Make a new key and a self-signed certificate, for all members of one cluster."""
    made = make_certificate(is_authority=True)
    return Credentials(made.cert, made.cert, made.key)


def read_credentials(ca: Path, cert: Path, key: Path | None) -> Credentials:
    """Read credentials from files in PEM format. Raise :class:`UsageError` if one is unreadable or invalid, or if the key is encrypted."""
    require_roots(ca)
    own = Credentials(_text(ca), _text(cert), None if key is None else _text(key))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(cert, key, password=_refuse)
    except ssl.SSLError:
        where = f"{cert} and {key} are not a certificate and its key" if key else f"{cert} is not a certificate followed by its key"
        raise UsageError(f"{where} in PEM format", hint="pass the key with --dask-key") from None
    return own


def require_protected(scheduler: Scheduler) -> None:
    """Raise :class:`UsageError` if the scheduler is on another host and its connections are not protected by TLS."""
    if scheduler.address.startswith(PROTECTED):
        return
    if scheduler.credentials is not None:
        raise UsageError(f"--dask-ca requires TLS, but the scheduler's address is {scheduler.address}", hint="write it as tls://HOST:PORT")
    if not is_loopback(scheduler.address if "://" in scheduler.address else f"tcp://{scheduler.address}"):
        raise UsageError(
            f"the Dask cluster at {scheduler.address} is not protected by TLS, so anyone who reaches it can run code on all its hosts",
            hint="start it with TLS and pass --dask-ca, or pass --dask-insecure in a network that you trust",
        )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not in PEM format") from None


def _refuse() -> str:
    raise UsageError("the key of the Dask cluster is encrypted", hint="decrypt it into a file that only you can read")

"""Dask's form of credentials."""

from __future__ import annotations

from distributed import Security

from httpbench.cluster.dask.credentials import Credentials


def security(credentials: Credentials | None) -> Security:
    """Return the settings that require these credentials of every peer. ``None`` returns the settings of Dask's own configuration."""
    if credentials is None:
        return Security()
    roles = {f"tls_{role}_{part}": getattr(credentials, part) for role in ("client", "scheduler", "worker") for part in ("cert", "key")}
    return Security(require_encryption=True, tls_ca_file=credentials.ca, **roles)

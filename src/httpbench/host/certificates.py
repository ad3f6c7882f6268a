"""Check files with certificates."""

from __future__ import annotations

import ssl
from pathlib import Path

from httpbench.errors import UsageError


def require_roots(file: Path) -> None:
    """Raise :class:`UsageError` unless the file contains certificates in PEM format."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError:
        raise UsageError(f"{file} contains no certificate in PEM format") from None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None

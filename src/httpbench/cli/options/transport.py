"""Options for TLS and HTTP/2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from httpbench.cli.options.fields import Options, option
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.model import Target


class TransportOptions(Options):
    """Options for TLS and HTTP/2."""

    tls: bool = option("--tls", is_flag=True, help="The servers that commands start speak HTTPS.")
    insecure: bool = option("-k", "--insecure", is_flag=True, help="With HTTPS: accept any certificate.")
    cacert: Path | None = option(
        "--cacert",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        default_text="the system's",
        help="With HTTPS: PEM file with the roots that certificates must chain to.",
    )
    http2: bool = option(
        "--http2", is_flag=True, help="Use HTTP/2: by ALPN with HTTPS, else with prior knowledge. --pipeline is streams per connection."
    )

    def load_fields(self, urls: Sequence[str]) -> dict[str, Any]:
        """Return the options as fields of :class:`~httpbench.model.Load`. Raise :class:`UsageError` if they contradict the URLs."""
        from httpbench.model import UNIX

        schemes = {"http" if url.startswith(UNIX) else urlsplit(url).scheme for url in urls}
        if len(schemes) > 1 or (self.tls and "http" in schemes):
            raise UsageError("some servers speak HTTPS and others HTTP", hint="measure them in two runs, and use `httpbench compare`")
        tls = self.tls or "https" in schemes
        if not tls and (self.insecure or self.cacert):
            raise UsageError("-k and --cacert require HTTPS", hint="add --tls, or give an https URL")
        if self.insecure and self.cacert:
            raise UsageError("-k accepts any certificate, so --cacert has no effect", hint="remove one of them")
        return {**({"tls": True} if tls else {}), **({"http2": True} if self.http2 else {})}

    def applied(self, targets: Sequence[Target]) -> list[Target]:
        """Return the targets with the certificates to accept from them."""
        from httpbench.host.certificates import require_roots
        from httpbench.model import Trust

        if self.cacert is not None:
            require_roots(self.cacert)
        trust = Trust(any_certificate=self.insecure, ca_file=None if self.cacert is None else str(self.cacert.resolve()))
        return [target.model_copy(update={"trust": trust}) for target in targets]

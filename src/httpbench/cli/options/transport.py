"""Options for TLS and HTTP/2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from httpbench.cli.options.fields import Options, option
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.model import Target, Trust, Workload
    from httpbench.run import Transport


class ProtocolOptions(Options):
    """The protocol of requests."""

    tls: bool = option("--tls", is_flag=True, help="Use HTTPS. A command with {cert} and {key} gets a new certificate and its key.")
    http2: bool = option(
        "--http2", is_flag=True, help="Use HTTP/2: by ALPN with HTTPS, else with prior knowledge. --pipeline is streams per connection."
    )

    def serving(self, targets: Sequence[Target], *, named: bool) -> list[Target]:
        """Return the targets that declare the protocol.

        Raise :class:`SelectionError` if none does or, if the user ``named`` the targets, if one does not.
        """
        from httpbench.run import undeclared

        protocols = {target.id: undeclared(target, tls=self.tls, http2=self.http2) for target in targets}
        kept = [target for target in targets if protocols[target.id] is None]
        missing = [name for name, protocol in protocols.items() if protocol]
        if missing and (named or not kept):
            raise SelectionError(f"{missing[0]} does not declare {protocols[missing[0]]} in its target.toml")
        return kept

    def built(self, target: Target, workload: Workload) -> Target:
        """Return the target with the features that it needs for this workload and the protocol of these options."""
        from httpbench.run import built_for

        return built_for(target, workload, tls=self.tls, http2=self.http2)


class TransportOptions(ProtocolOptions):
    """Options for TLS and HTTP/2."""

    insecure: bool = option("-k", "--insecure", is_flag=True, help="With HTTPS: accept any certificate.")
    cacert: Path | None = option(
        "--cacert",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        default_text="the system's",
        help="With HTTPS: PEM file with the roots that certificates must chain to.",
    )
    tls_resumption: bool = option(
        "--tls-resumption", is_flag=True, help="With HTTPS: let connections resume sessions. Default: a full handshake each."
    )

    def load_fields(self, targets: Sequence[Target] = ()) -> dict[str, Any]:
        """Return the options as fields of :class:`~httpbench.model.Load`.

        Raise :class:`UsageError` if they contradict the targets' URLs or each other.
        """
        from httpbench.model import uses_certificate

        schemes = {"http" if target.unix_socket else urlsplit(target.url).scheme for target in targets if target.url}
        if any(uses_certificate(target.run, target.env) for target in targets):
            schemes.add("https")
        if len(schemes) > 1 or (self.tls and "http" in schemes):
            raise UsageError("some servers speak HTTPS and others HTTP", hint="measure them in two runs, and use `httpbench compare`")
        tls = self.tls or "https" in schemes
        if not tls and (self.insecure or self.cacert or self.tls_resumption):
            raise UsageError("-k, --cacert and --tls-resumption require HTTPS", hint="add --tls, or give an https URL")
        if self.insecure and self.cacert:
            raise UsageError("-k accepts any certificate, so --cacert has no effect", hint="remove one of them")
        fields = {"tls": tls, "http2": self.http2, "tls_resumption": self.tls_resumption}
        return {name: value for name, value in fields.items() if value}

    def applied(self, targets: Sequence[Target]) -> list[Target]:
        """Return the targets with the certificates to accept from them."""
        trust = self._trust()
        return [target.model_copy(update={"trust": trust}) for target in targets]

    def transport(self, targets: Sequence[Target] = ()) -> Transport:
        """Return the transport of single requests. Raise :class:`UsageError` as :meth:`load_fields` does."""
        from httpbench.run import Transport

        return Transport(self._trust() if self.load_fields(targets).get("tls") else None, self.http2)

    def _trust(self) -> Trust:
        from httpbench.host.certificates import require_roots
        from httpbench.model import Trust

        if self.cacert is not None:
            require_roots(self.cacert)
        return Trust(any_certificate=self.insecure, ca_file=None if self.cacert is None else str(self.cacert.resolve()))

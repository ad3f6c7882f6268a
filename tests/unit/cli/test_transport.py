"""Tests of the options for TLS and HTTP/2: contradictions are reported before anything starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from httpbench.cli.options.transport import TransportOptions
from httpbench.errors import UsageError
from httpbench.model import Target
from tests.factories import make_target
from tests.tls import write_server_files

NONE = TransportOptions(tls=False, insecure=False, cacert=None, http2=False, tls_resumption=False)
HTTP = make_target(url="http://a:80", run=())
HTTPS = make_target(url="https://b:443", run=())
OWN = make_target(run=("./server", "{port}", "{cert}", "{key}"))


@pytest.mark.parametrize(
    ("options", "targets", "fields"),
    [
        (NONE, (), {}),
        (NONE, (HTTP,), {}),
        (NONE, (HTTPS, HTTPS), {"tls": True}),
        (NONE, (OWN,), {"tls": True}),
        (replace(NONE, tls=True, insecure=True, http2=True), (), {"tls": True, "http2": True}),
        (replace(NONE, http2=True), (HTTP,), {"http2": True}),
        (replace(NONE, tls_resumption=True), (HTTPS,), {"tls": True, "tls_resumption": True}),
    ],
)
def test_options_become_fields_of_the_load(options: TransportOptions, targets: tuple[Target, ...], fields: dict[str, bool]) -> None:
    assert options.load_fields(targets) == fields


@pytest.mark.parametrize(
    ("options", "targets", "sentence"),
    [
        (NONE, (HTTP, HTTPS), "some servers speak HTTPS and others HTTP"),
        (NONE, (HTTP, OWN), "some servers speak HTTPS and others HTTP"),
        (replace(NONE, tls=True), (HTTP,), "some servers speak HTTPS and others HTTP"),
        (replace(NONE, insecure=True), (HTTP,), "-k, --cacert and --tls-resumption require HTTPS"),
        (replace(NONE, cacert=Path("a")), (), "-k, --cacert and --tls-resumption require HTTPS"),
        (replace(NONE, tls=True, insecure=True, cacert=Path("a")), (), "-k accepts any certificate, so --cacert has no effect"),
    ],
)
def test_contradictions_are_errors(options: TransportOptions, targets: tuple[Target, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        options.load_fields(targets)


def test_targets_get_the_certificates_to_accept(tmp_path: Path) -> None:
    ca = write_server_files(tmp_path).ca
    (target,) = replace(NONE, tls=True, cacert=ca).applied([make_target()])
    assert (target.trust.any_certificate, target.trust.ca_file) == (False, str(ca))
    (target,) = replace(NONE, tls=True, insecure=True).applied([make_target()])
    assert (target.trust.any_certificate, target.trust.ca_file) == (True, None)


def test_a_file_without_certificates_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(UsageError, match=r"ca\.pem contains no certificate in PEM format"):
        replace(NONE, tls=True, cacert=tmp_path / "ca.pem").applied([make_target()])

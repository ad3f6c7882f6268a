"""Tests of the options for TLS and HTTP/2: contradictions are reported before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.cli.options.transport import TransportOptions
from httpbench.errors import UsageError
from tests.factories import make_target
from tests.tls import write_server_files

NONE = TransportOptions(False, False, None, False)


@pytest.mark.parametrize(
    ("options", "urls", "fields"),
    [
        (NONE, (), {}),
        (NONE, ("http://a/",), {}),
        (NONE, ("https://a/", "https://b/"), {"tls": True}),
        (TransportOptions(True, True, None, True), (), {"tls": True, "http2": True}),
        (TransportOptions(False, False, None, True), ("http://a/",), {"http2": True}),
    ],
)
def test_options_become_fields_of_the_load(options: TransportOptions, urls: tuple[str, ...], fields: dict[str, bool]) -> None:
    assert options.load_fields(urls) == fields


@pytest.mark.parametrize(
    ("options", "urls", "sentence"),
    [
        (NONE, ("http://a/", "https://a/"), "some servers speak HTTPS and others HTTP"),
        (TransportOptions(True, False, None, False), ("http://a/",), "some servers speak HTTPS and others HTTP"),
        (TransportOptions(False, True, None, False), ("http://a/",), "-k and --cacert require HTTPS"),
        (TransportOptions(False, False, Path("a"), False), (), "-k and --cacert require HTTPS"),
        (TransportOptions(True, True, Path("a"), False), (), "-k accepts any certificate, so --cacert has no effect"),
    ],
)
def test_contradictions_are_errors(options: TransportOptions, urls: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        options.load_fields(urls)


def test_targets_get_the_certificates_to_accept(tmp_path: Path) -> None:
    ca = write_server_files(tmp_path).ca
    (target,) = TransportOptions(True, False, ca, False).applied([make_target()])
    assert (target.trust.any_certificate, target.trust.ca_file) == (False, str(ca))
    (target,) = TransportOptions(True, True, None, False).applied([make_target()])
    assert (target.trust.any_certificate, target.trust.ca_file) == (True, None)


def test_a_file_without_certificates_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(UsageError, match=r"ca\.pem contains no certificate in PEM format"):
        TransportOptions(True, False, tmp_path / "ca.pem", False).applied([make_target()])

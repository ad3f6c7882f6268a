"""Make certificates, and check files with certificates."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from httpbench.errors import UsageError

VALID_BEFORE, VALID_AFTER = timedelta(days=1), timedelta(days=30)
"""Time before and after now in which a new certificate is valid. Clocks of load hosts may differ by almost a day."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate and its key, in PEM format."""

    cert: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """The files of a certificate and its key."""

    cert: Path
    key: Path


def make_certificate(addresses: tuple[str, ...] = (), *, is_authority: bool = False) -> Certificate:
    """Make a new ECDSA key on the curve P-256, and a certificate that it signs.

    Args:
        addresses: IP addresses of the server that the certificate identifies.
        is_authority: Whether the certificate may sign others. Some clients refuse such a certificate from a server.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "httpbench")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key(), serial_number=x509.random_serial_number())
        .not_valid_before(now - VALID_BEFORE)
        .not_valid_after(now + VALID_AFTER)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None), critical=True)
    )
    if addresses:
        names = [x509.DNSName("localhost"), *(x509.IPAddress(ip_address(address)) for address in addresses)]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    cert = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
    plain = serialization.NoEncryption()
    return Certificate(cert, key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode())


def write_certificate(folder: Path, addresses: tuple[str, ...]) -> CertificateFiles:
    """Make a certificate for a server, and write it and its key into a folder.

    The files are readable for all users, because a container may run as any user. The folder must keep others out.
    """
    made, files = make_certificate(addresses), CertificateFiles(folder / "cert.pem", folder / "key.pem")
    for path, text in ((files.cert, made.cert), (files.key, made.key)):
        path.write_text(text, encoding="ascii")
        path.chmod(0o644)
    return files


def require_roots(file: Path) -> None:
    """Raise :class:`UsageError` unless the file contains certificates in PEM format."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError:
        raise UsageError(f"{file} contains no certificate in PEM format") from None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None

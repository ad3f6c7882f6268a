"""Certificates for tests: an authority, and a server's certificate that it signed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """PEM files."""

    ca: Path
    cert: Path
    key: Path


def write_server_files(folder: Path) -> ServerFiles:
    """Make a certificate for ``localhost`` and 127.0.0.1, and write it, its key and its authority to files."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    ca_name, own_name = (x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in ("test authority", "localhost"))
    ca = _builder(ca_name, ca_name, keys[0]).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))])
    own = _builder(own_name, ca_name, keys[1]).add_extension(names, critical=False)
    files = ServerFiles(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")
    files.ca.write_bytes(ca.sign(keys[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    files.cert.write_bytes(own.sign(keys[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    files.key.write_bytes(keys[1].private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return files


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))

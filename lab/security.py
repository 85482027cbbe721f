"""Certificates and listeners of the lab: TLS and passwords beside the plain port, all invented."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SECURE_PORT = 9094


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate with its key; `chain` holds both as Kafka wants them in one file."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def chain(self, path: Path) -> Path:
        path.write_bytes(
            self.key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + self.certificate.public_bytes(serialization.Encoding.PEM)
        )
        return path

    def public(self, path: Path) -> Path:
        path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        return path


def issue(name: str, by: Identity | None = None, days: int = 365, address: str | None = None) -> Identity:
    """A certificate signed by `by`, or by itself as an authority; with negative days it ended so long ago."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=400))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    )
    if address:
        import ipaddress

        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        builder = builder.add_extension(names, critical=False)
    return Identity(builder.sign(by.key if by else key, hashes.SHA256()), key)


def second_listener(name: str, protocol: str, advertised: str | None = None) -> dict[str, str]:
    """Settings of a broker that listens with this protocol on SECURE_PORT, besides the plain port."""
    listeners = f"PLAINTEXT://{{address}}:9092,{name}://{{address}}:{SECURE_PORT}"
    shown = advertised or f"{{address}}:{SECURE_PORT}"
    return {
        "listeners": f"{listeners},CONTROLLER://{{address}}:9093",
        "advertised.listeners": f"PLAINTEXT://{{address}}:9092,{name}://{shown}",
        "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{name}:{protocol}",
        "inter.broker.listener.name": "PLAINTEXT",
    }


def tls(folder: Path, broker: Identity, versions: str = "TLSv1.3,TLSv1.2") -> dict[str, str]:
    """Settings of a broker with a TLS port and this certificate."""
    return {
        **second_listener("SSL", "SSL"),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(broker.chain(folder / "broker.pem")),
        "ssl.enabled.protocols": versions,
    }


def passwords(**users: str) -> dict[str, str]:
    """Settings of a broker with a port for passwords (SASL PLAIN)."""
    known = " ".join(f'user_{name}="{word}"' for name, word in users.items())
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        **second_listener("SASL", "SASL_PLAINTEXT"),
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.plain.sasl.jaas.config": f"{module} required {known};",
    }


def login(user: str, word: str) -> dict[str, str]:
    """What a client of librdkafka needs to log in."""
    return {
        "security_protocol": "sasl_plaintext",
        "sasl_mechanism": "PLAIN",
        "sasl_username": user,
        "sasl_password": word,
    }


def scram() -> dict[str, str]:
    """Settings of a broker with a port for SCRAM; its users are made with its storage."""
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return {
        **second_listener("SASL", "SASL_PLAINTEXT"),
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "listener.name.sasl.scram-sha-256.sasl.jaas.config": f"{module} required;",
    }

"""Words about TLS connections that were not decrypted, for the sections that meet them."""

from __future__ import annotations

from typing import Any

from analyzer.report.format import count

_REASONS = (
    ("tls_failed_connections", "whose handshake failed"),
    ("tls_wrong_keys_connections", "with keys that do not match"),
    ("tls_midstream_connections", "whose handshake is not in the capture"),
    ("tls_unsupported_connections", "of a version or cipher that is not supported"),
)


def undecrypted(row: dict[str, Any]) -> str:
    """Why the TLS connections of a `coverage` row were not decrypted, by number; there is at least one."""
    parts = [f"{count(row[name])} {words}" for name, words in _REASONS if row[name]]
    without_keys = row["tls_connections"] - sum(row[name] for name, _ in _REASONS)
    if without_keys:
        parts.insert(0, f"{count(without_keys)} without keys: --tls-keylog FILE")
    return ", ".join(parts)

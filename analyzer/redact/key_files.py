"""The key of pseudonyms: made for one run and forgotten, or kept in a file, with which all runs give the same pseudonyms."""

from __future__ import annotations

import os
import secrets
from hashlib import blake2b
from pathlib import Path

from analyzer.redact.pseudonyms import KEY_BYTES

_MODE = 0o600
_LEAST_BYTES = 16


class KeyFileError(ValueError):
    """A file that holds no key; the message is for a person."""


def key_of(path: Path | None) -> bytes:
    """The key that a file holds; a new file gets a new one, None is a key for once. Raises KeyFileError, OSError."""
    if path is None:
        return secrets.token_bytes(KEY_BYTES)
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    except FileExistsError:
        with path.open("rb") as file:
            content = file.read(1 << 16).strip()
    else:
        content = secrets.token_hex(KEY_BYTES).encode()
        try:
            with os.fdopen(made, "wb") as file:
                file.write(content + b"\n")
        except OSError:
            path.unlink(missing_ok=True)  # else the next run would find a file without a key
            raise
    if len(content) < _LEAST_BYTES:
        raise KeyFileError(f"{path}: holds no key: wanted {_LEAST_BYTES} bytes or more that nobody can guess")
    return blake2b(content, digest_size=KEY_BYTES, person=b"kanalyze redact").digest()

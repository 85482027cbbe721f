"""Addresses of object storage: a scheme, a bucket and a key.

A key is taken as it is: no character in it means another one, so that keys with spaces, `%`, `?` and `#` work. Addresses
with credentials in them are refused, and shown without these.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from analyzer.base.storage.environment import access_advice

SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "abfss": "abfss"}
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# Query parameters of signed links: whoever reads them can use them.
_SIGNED = re.compile(r"\?(?:.*&)?(?:sig|x-amz-signature|x-goog-signature)=", re.IGNORECASE | re.DOTALL)


class StorageError(OSError):
    """Storage refused a request or did not answer: one line for a person, without secrets."""


class Address(NamedTuple):
    """`root` is the bucket; in Azure container@account and the rest of the host."""

    scheme: str
    root: str
    key: str

    @property
    def uri(self) -> str:
        return f"{self.scheme}://{self.root}/{self.key}" if self.key else f"{self.scheme}://{self.root}"

    @property
    def path(self) -> str:
        """Its path in the filesystem of pyarrow."""
        bucket = self.root.partition("@")[0]
        return f"{bucket}/{self.key}" if self.key else bucket

    def inside(self, name: str) -> Address:
        """The address of `name` below it."""
        return self._replace(key=f"{self.key}/{name}" if self.key else name)

    def at_path(self, path: str) -> Address:
        """The address of another path of the same filesystem."""
        return self._replace(key=path.partition("/")[2])


def is_storage_uri(text: str) -> bool:
    """Whether a text is written like an address of object storage, of a known scheme or not."""
    return _URI.match(text) is not None


def parse_address(uri: str) -> Address:
    """The address that a URI names; s3a and s3n mean s3, slashes at the end do not count. Raises StorageError."""
    found = _URI.match(uri)
    scheme = SCHEMES.get(found[1].lower()) if found else None
    if not found or scheme is None:
        raise StorageError(
            f"{_without_credentials(uri)}: unsupported storage; supported are {', '.join(SCHEMES)} and file"
        )
    if _SIGNED.search(uri):
        raise StorageError(
            f"{_without_credentials(uri)}: signed URLs are not supported; give the plain address, {access_advice(scheme)}"
        )
    root, _, key = uri[found.end() :].partition("/")
    if scheme != "abfss" and re.search("[@:]", root):
        raise StorageError(f"{scheme}://...: credentials do not belong in an address; {access_advice(scheme)}")
    if not root or (scheme == "abfss" and not re.fullmatch(r"[^@:]+@[^@:.]+\..+", root)):
        example = "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net" if scheme == "abfss" else f"{scheme}://BUCKET"
        raise StorageError(f"{_without_credentials(uri)}: has no bucket, unlike {example}/KEY")
    return Address(scheme, root, key.rstrip("/"))


def _without_credentials(uri: str) -> str:
    """A refused URI as it may be shown: without what follows `?`, and without what may be a name and a password."""
    plain = uri.partition("?")[0]
    hidden = re.sub("//.*@", "//...@", plain, count=1, flags=re.DOTALL)  # keys may have slashes in them
    return re.sub("//[^/@]*:.*", "//...", hidden, count=1, flags=re.DOTALL)

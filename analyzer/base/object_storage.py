"""Object storage (s3, gs, abfss) through pyarrow.fs: what there is at an address, read in ranges, written as streams.

An address is a scheme, a bucket and a key, taken as it is: nothing in a key stands for something else, so that keys with
spaces, `%`, `?` and `#` work. Where the server is and who asks is told by the environment, as other tools have it
(AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID ..., GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_KEY); no secret is kept here or
told in a message. pyarrow is imported when storage is first asked.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "abfss": "abfss"}
# Enough for the head of a capture, which is often all that is wanted; then as much as pays for a request.
FIRST_RANGE_BYTES = 64 << 10
RANGE_BYTES = 8 << 20
LEAST_RANGE_BYTES = 256 << 10
# All objects that are open at a time hold about so much, the range that is read ahead included.
HELD_BYTES = 64 << 20
# Waits of at most 1, 2, 4, 8 and 16 s between them, half of that on average.
ATTEMPTS = 6
# A server that says nothing for so long has not heard. The end of an upload is work for it, and asking for it a second time
# fails when the first was heard: there we are patient.
SILENCE_SECONDS = 5.0
SILENCE_AT_UPLOADS_SECONDS = 30.0
# After a server did not answer through all attempts, nothing is asked of it for so long: a thousand objects must not wait
# a thousand times.
GIVEN_UP_SECONDS = 30.0
# A server that was started again may round another way.
_SAME_TIME_NS = 1_000_000_000

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# What signed links carry: whoever reads them can use them.
_SIGNED = re.compile(r"\?(?:.*&)?(?:sig|x-amz-signature|x-goog-signature)=", re.IGNORECASE | re.DOTALL)
# What a filesystem is made from: another environment, another filesystem.
_PLACES = (
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "STORAGE_EMULATOR_HOST",
)
_KEYS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
)


class StorageError(OSError):
    """Storage that does not give or take what was asked: one line for a person, without secrets."""


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
        """As pyarrow names it in its filesystem."""
        bucket = self.root.partition("@")[0]
        return f"{bucket}/{self.key}" if self.key else bucket

    def inside(self, name: str) -> Address:
        """The address of what lies below it."""
        return self._replace(key=f"{self.key}/{name}" if self.key else name)

    def at_path(self, path: str) -> Address:
        """The address of what the same filesystem calls `path`."""
        return self._replace(key=path.partition("/")[2])


class Found(NamedTuple):
    """Something at an address. Size in bytes and time of the last change (ns since the epoch) are those of an object."""

    address: Address
    is_folder: bool
    size_bytes: int = 0
    modified_ns: int | None = None


def is_uri(text: str) -> bool:
    """True for what is written like an address of object storage, known or not."""
    return _URI.match(text) is not None


def address(uri: str) -> Address:
    """What a URI names; s3a and s3n are s3. Slashes at its end do not count. Raises StorageError."""
    found = _URI.match(uri)
    scheme = SCHEMES.get(found[1].lower()) if found else None
    if not found or scheme is None:
        raise StorageError(
            f"{_without_keys(uri)}: no storage that can be read; known are {', '.join(SCHEMES)} and file"
        )
    if _SIGNED.search(uri):
        raise StorageError(
            f"{_without_keys(uri)}: signed links are not taken; give the plain address, {_wanted(scheme)}"
        )
    root, _, key = uri[found.end() :].partition("/")
    if scheme != "abfss" and re.search("[@:]", root):
        raise StorageError(f"{scheme}://...: keys do not belong into an address; {_wanted(scheme)}")
    if not root or (scheme == "abfss" and not re.fullmatch(r"[^@:]+@[^@:.]+\..+", root)):
        example = "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net" if scheme == "abfss" else f"{scheme}://BUCKET"
        raise StorageError(f"{_without_keys(uri)}: names no bucket, as {example}/KEY does")
    return Address(scheme, root, key.rstrip("/"))


def _without_keys(uri: str) -> str:
    """A URI that was not taken, to be shown: without what is behind `?`, and what may be names and keys of a person."""
    plain = uri.partition("?")[0]
    hidden = re.sub("//.*@", "//...@", plain, count=1, flags=re.DOTALL)  # keys may have slashes in them
    return re.sub("//[^/@]*:.*", "//...", hidden, count=1, flags=re.DOTALL)


def find(at: Address) -> Found | None:
    """What is at an address: an object, a folder (something lies below it), or None. Raises StorageError."""
    from pyarrow.fs import FileType

    try:
        with _asked(at) as storage:
            info = storage.get_file_info(at.path)
    except StorageError as error:
        if "No response body" in str(error.__cause__):
            listing(at)  # where it fails too, it says why
        raise
    return None if info.type == FileType.NotFound else _found(at, info)


def no_bucket(at: Address) -> StorageError | None:
    """The error to be told when nothing was found because the whole bucket is not there; None when it is, or may be."""
    try:
        return None if find(at._replace(key="")) else StorageError(f"{at.uri}: {_NO_BUCKET.format(server=_server(at))}")
    except StorageError:
        return None


def listing(at: Address, recursive: bool = False) -> list[Found]:
    """What lies in a folder, in no order; nothing in a folder that is not there. Raises StorageError."""
    from pyarrow.fs import FileSelector

    with _asked(at) as storage:
        infos = storage.get_file_info(FileSelector(at.path, recursive=recursive, allow_not_found=True))
    return [_found(at, info) for info in infos]


def _found(at: Address, info: Any) -> Found:
    if not info.is_file:
        return Found(at.at_path(info.path), True)
    return Found(at.at_path(info.path), False, info.size, info.mtime_ns)


@contextmanager
def writing(at: Address) -> Iterator[Any]:
    """A binary stream that becomes the object when the block ends; what fails may leave a part of it.

    Raises StorageError.
    """
    with _asked(at, _WRITING) as storage:
        stream = storage.open_output_stream(at.path, compression=None)
    try:
        yield stream
    finally:
        with _asked(at, _WRITING):
            stream.close()


def read(at: Address) -> bytes:
    """All of a small object. Raises StorageError."""
    found = find(at)
    if found is None or found.is_folder:
        raise StorageError(f"{at.uri}: {_NO_OBJECT.format(server=_server(at))}")
    reader = Reader(found)
    try:
        return b"".join(iter(lambda: reader.read(FIRST_RANGE_BYTES), b""))
    finally:
        reader.close()


def remove(at: Address) -> None:
    """Removes one object. Raises StorageError."""
    with _asked(at) as storage:
        storage.delete_file(at.path)


class Reader:
    """The bytes of an object from `begin` to its end, in order, a range read ahead of what is taken.

    The object must have the size that `found` says and stay what it is, from the first byte to the last. `end` is where the
    reader of the bytes is likely to stop: beyond it ranges are small. Raises StorageError; so do the methods.
    """

    def __init__(self, found: Found, begin: int = 0, end: int | None = None) -> None:
        self._expected = found
        self._likely_end = found.size_bytes if end is None else end
        # Not as listed: some servers tell another time there.
        self._modified_ns: int | None = None
        self._check_now()
        with _asked(found.address) as storage:
            self._file = storage.open_input_file(found.address.path)
        if begin > found.size_bytes:
            raise StorageError(
                f"{found.address.uri}: has {found.size_bytes:,} bytes, and a part from {begin:,} on was wanted"
            )
        self._ranges = self._all_ranges(begin)
        self._rest = memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        """Fills the view from one range; 0 at the end."""
        while not self._rest:
            data = next(self._ranges, None)
            if data is None:
                return 0
            self._rest = memoryview(data)
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end."""
        buffer = bytearray(size)
        return bytes(buffer[: self.readinto(memoryview(buffer))])

    def close(self) -> None:
        """Lets go of the object; a range that is on its way is not waited for."""
        self._ranges.close()
        self._rest = memoryview(b"")

    def _all_ranges(self, begin: int) -> Generator[bytes, None, None]:
        end = self._expected.size_bytes
        _count_open(1)
        ahead: Future[bytes] | None = None
        pool = None
        try:
            if begin < end:
                first = min(begin + FIRST_RANGE_BYTES, end)
                yield self._range(begin, first)
                begin = first
            self._check_now()
            pool = ThreadPoolExecutor(1, "kanalyze-read-ahead") if begin < end else None
            while begin < end and pool:
                until = self._until(begin)
                data = (ahead or pool.submit(self._sure_range, begin, until)).result()
                begin, ahead = until, None
                # Where the bytes will hardly be wanted nothing is read ahead.
                if begin < min(end, self._likely_end):
                    ahead = pool.submit(self._sure_range, begin, self._until(begin))
                yield data
        finally:
            _count_open(-1)
            if pool:
                pool.shutdown(wait=False, cancel_futures=True)

    def _until(self, begin: int) -> int:
        """Where a range ends that begins here."""
        if begin < self._likely_end:
            return min(begin + _range_bytes(), self._likely_end)
        return min(begin + LEAST_RANGE_BYTES, self._expected.size_bytes)

    def _sure_range(self, begin: int, end: int) -> bytes:
        data = self._range(begin, end)
        self._check_now()
        return data

    def _range(self, begin: int, end: int) -> bytes:
        with _asked(self._expected.address):
            data: bytes = self._file.read_at(end - begin, begin)
        if len(data) != end - begin:
            self._check_now()
            raise StorageError(
                f"{self._expected.address.uri}: gave {len(data):,} of {end - begin:,} bytes at {begin:,}"
            )
        return data

    def _check_now(self) -> None:
        """After each range: of an object that became shorter, pyarrow 26 gives the bytes that are missing too, made up."""
        now = find(self._expected.address)
        if now is None or now.is_folder:
            raise StorageError(f"{self._expected.address.uri}: went away while it was read; run again")
        if now.size_bytes != self._expected.size_bytes:
            raise StorageError(
                f"{now.address.uri}: changed while it was read, from {self._expected.size_bytes:,} to {now.size_bytes:,} bytes; "
                "run again when it is complete"
            )
        then, self._modified_ns = self._modified_ns, now.modified_ns
        if then and now.modified_ns and abs(now.modified_ns - then) > _SAME_TIME_NS:
            raise StorageError(f"{now.address.uri}: was written again while it was read; run again")


_open_lock = threading.Lock()
_open_readers = 0


def _count_open(more: int) -> None:
    global _open_readers
    with _open_lock:
        _open_readers += more


def _range_bytes() -> int:
    """Captures of the same time are read together, up to 64 of them: each with its share of the memory."""
    return max(LEAST_RANGE_BYTES, min(RANGE_BYTES, HELD_BYTES // (2 * max(1, _open_readers))))


_READING, _WRITING = False, True


@contextmanager
def _asked(at: Address, purpose: bool = _READING) -> Iterator[FileSystem]:
    """The filesystem of an address; words its errors, and stops asking a server that does not answer."""
    import pyarrow

    key = (purpose, os.getpid(), at.scheme, at.root, *(os.environ.get(name) for name in (*_PLACES, *_KEYS)))
    told = _given_up.get(key)
    if told is not None and time.monotonic() < told[0]:
        raise StorageError(f"{at.uri}: {told[1]}")
    try:
        yield _filesystem(key, at.scheme, at.root, purpose)
    except StorageError:
        raise
    except (OSError, ImportError, pyarrow.ArrowException) as error:
        text, is_silent = _reason(at, error)
        if is_silent:
            _given_up[key] = (time.monotonic() + GIVEN_UP_SECONDS, text)
        raise StorageError(f"{at.uri}: {text}") from error


# What a filesystem was made from -> until when nothing is asked of it, and why.
_given_up: dict[tuple[object, ...], tuple[float, str]] = {}


def was_asked() -> bool:
    """Did this process ask any storage? Its clients have threads, beside which a fork may hang."""
    return _filesystem.cache_info().currsize > 0


@lru_cache(maxsize=64)
def _filesystem(key: tuple[object, ...], scheme: str, root: str, purpose: bool) -> FileSystem:
    """One for each process, bucket and environment: a fork must not use its parent's, and many would ask for credentials
    many times.
    """
    del key
    return _MAKERS[scheme](root, purpose)


def _s3(bucket: str, purpose: bool) -> FileSystem:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region

    endpoint = _endpoint()
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if endpoint:
        # Checksums at the end of an upload are refused (411) by servers that are not Amazon's.
        os.environ.setdefault("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
    elif not region and not os.environ.get("AWS_PROFILE"):
        region = resolve_s3_region(bucket)
    return S3FileSystem(
        endpoint_override=endpoint,
        region=region or ("us-east-1" if endpoint else None),
        request_timeout=SILENCE_AT_UPLOADS_SECONDS if purpose == _WRITING else SILENCE_SECONDS,
        connect_timeout=2,
        # What is small goes in one request, when it is complete.
        allow_delayed_open=True,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
    )


def _gs(*_: object) -> FileSystem:
    from datetime import timedelta

    from pyarrow.fs import GcsFileSystem

    scheme, _colon, server = _emulator().rpartition("://")
    return GcsFileSystem(
        anonymous=bool(server),
        endpoint_override=server or None,
        scheme=(scheme or "http") if server else None,
        retry_time_limit=timedelta(seconds=20),
    )


def _abfss(root: str, *_: object) -> FileSystem:
    from pyarrow.fs import AzureFileSystem

    account, domain = root.partition("@")[2].split(".", 1)
    return AzureFileSystem(
        account,
        account_key=os.environ.get("AZURE_STORAGE_KEY"),
        sas_token=os.environ.get("AZURE_STORAGE_SAS_TOKEN"),
        dfs_storage_authority=f".{domain}",
        blob_storage_authority=f".{domain.replace('dfs.', 'blob.', 1)}",
    )


_MAKERS: dict[str, Callable[[str, bool], FileSystem]] = {"s3": _s3, "gs": _gs, "abfss": _abfss}


def _endpoint() -> str | None:
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def _emulator() -> str:
    """A server in Google's place that wants no credentials, named as Google's own libraries have it."""
    return os.environ.get("STORAGE_EMULATOR_HOST", "")


def _wanted(scheme: str) -> str:
    return {
        "s3": "with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
        "gs": "with GOOGLE_APPLICATION_CREDENTIALS in the environment",
        "abfss": "with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN in the environment",
    }[scheme]


_NO_OBJECT = "no such object at {server}; check the name"
_NO_BUCKET = "no such bucket at {server}; check the name and the region"
# What the message of an error says -> what a person should hear. The first that fits counts.
_REASONS = (
    (r"Failed to get token|OAuth2 access token", "no credentials were found for {server}; access is {wanted}"),
    (r"NO_SUCH_BUCKET|NoSuchBucket|ContainerNotFound", _NO_BUCKET),
    (r"Path does not exist|\b404\b|NO_SUCH_KEY|RESOURCE_NOT_FOUND|BlobNotFound", _NO_OBJECT),
    (
        r"SIGNATURE_DOES_NOT_MATCH|SignatureDoesNotMatch",
        "{server} does not take the secret key ({keys}); check that it belongs to the access key",
    ),
    (r"INVALID_ACCESS_KEY_ID|InvalidAccessKeyId", "{server} does not know the access key ({keys}); {wanted}"),
    (r"ExpiredToken|EXPIRED_TOKEN|TokenRefreshRequired", "the session of the keys ({keys}) has ended; get new ones"),
    (r"status 301|PermanentRedirect|MOVED", "the bucket is in another region; set AWS_REGION to it"),
    (
        r"ACCESS_DENIED|AccessDenied|\b403\b|\b401\b|UNAUTHENTICATED|PERMISSION_DENIED|AuthenticationFailed|AuthorizationFail",
        "{server} denies access (tried {keys}); it wants one that may list and read here, {wanted}",
    ),
    (r"status 400|InvalidAuthenticationInfo|credential", "{server} refuses the request (tried {keys}); access is {wanted}"),
    (r"status 416", "changed while it was read; run again when it is complete"),
    (r"curlCode: 6\b|resolve host", "no address is known for {server}; check its name and the network"),
    (r"curlCode: (35|60)\b|SSL|certificate", "no trusted TLS connection to {server}; is it http, or its certificate unknown here?"),
    (r"NETWORK_CONNECTION|curlCode|UNAVAILABLE|Connection|Timeout", "no answer from {server} after {attempts} tries; is it up?"),
    (r"Empty path component", "a name with an empty part (//) cannot be read; give the object another name"),
)  # fmt: skip
_SILENT = re.compile(r"NETWORK_CONNECTION|curlCode|UNAVAILABLE|Connection refused")


def _reason(at: Address, error: BaseException) -> tuple[str, bool]:
    """What a person should hear of an error, and whether it means that nobody answered."""
    said = str(error)
    for name in (at.path, at.key, f"{at.key}/"):
        said = said.replace(f"'{name}'", "")  # names may look like errors
    silent = _SILENT.search(said) is not None
    for pattern, words in _REASONS:
        if re.search(pattern, said):
            text = words.format(server=_server(at), keys=_keys(at.scheme), wanted=_wanted(at.scheme), attempts=ATTEMPTS)
            return text, silent
    return f"{_server(at)} says: {_without_secrets(said)}", silent


def _server(at: Address) -> str:
    if at.scheme == "s3":
        return (_endpoint() or "Amazon S3 (AWS_ENDPOINT_URL is not set)").rpartition("@")[2]
    return at.root.partition("@")[2] if at.scheme == "abfss" else _emulator() or "Google Cloud Storage"


def _keys(scheme: str) -> str:
    """Where the keys come from that were tried, never what they are."""
    names = [name for name in _KEYS if os.environ.get(name) and name.startswith(_FAMILIES[scheme])]
    return (
        f"{', '.join(names)} of the environment" if names else "what this machine is given; the environment has no keys"
    )


_FAMILIES = {"s3": "AWS", "gs": "GOOGLE", "abfss": "AZURE"}


def _without_secrets(text: str) -> str:
    """The first line of a message that is not ours, cut, without any key of the environment."""
    line = text.strip().partition("\n")[0][:300]
    for name in _KEYS:
        secret = os.environ.get(name)
        line = line.replace(secret, "***") if secret else line
    return line

"""Clients of object storage: one pyarrow filesystem per process, bucket and environment.

pyarrow is imported when a client is first made. A server that does not answer is not asked again for a while.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from analyzer.base.storage.addresses import Address, StorageError
from analyzer.base.storage.environment import CREDENTIAL_VARIABLES, LOCATION_VARIABLES, gs_emulator, s3_endpoint
from analyzer.base.storage.error_texts import reason
from analyzer.base.storage.odd_answers import odd_answer

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

# Tries before a server is given up; between them waits of at most 1, 2, 4, 8 and 16 s, half of that on average.
ATTEMPTS = 6
# A request without an answer for so long is sent again. The end of an upload is work for the server, and asking for it a
# second time fails when it heard the first: uploads have more patience.
SILENCE_SECONDS = 5.0
SILENCE_AT_UPLOADS_SECONDS = 30.0
# A server that did not answer through all attempts is not asked again for so long: a thousand objects must not wait a
# thousand times.
GIVEN_UP_SECONDS = 30.0
# What a client is for.
READING, WRITING = False, True
# What a client was made from -> until when its server is not asked, and why.
_given_up: dict[tuple[object, ...], tuple[float, str]] = {}


@contextmanager
def client(at: Address, purpose: bool = READING) -> Iterator[FileSystem]:
    """The filesystem of an address. Errors in the block become StorageError, in words for a person."""
    import pyarrow

    variables = (*LOCATION_VARIABLES, *CREDENTIAL_VARIABLES)
    key = (purpose, os.getpid(), at.scheme, at.root, *map(os.environ.get, variables))
    told = _given_up.get(key)
    if told is not None and time.monotonic() < told[0]:
        raise StorageError(f"{at.uri}: {told[1]}")
    try:
        yield _filesystem(key, at.scheme, at.root, purpose)
    except StorageError:
        raise
    except (OSError, ImportError, pyarrow.ArrowException) as error:
        text, no_answer = reason(at, error, ATTEMPTS)
        if odd := odd_answer(at):
            text = odd
        if no_answer or odd:
            _given_up[key] = (time.monotonic() + GIVEN_UP_SECONDS, text)
        raise StorageError(f"{at.uri}: {text}") from error


@lru_cache(maxsize=64)
def _filesystem(key: tuple[object, ...], scheme: str, root: str, purpose: bool) -> FileSystem:
    """The filesystem for a key, which has the process in it: after a fork its parent's must not be used. A new one would ask
    for credentials again."""
    del key
    return _MAKERS[scheme](root, purpose)


def _s3(bucket: str, purpose: bool) -> FileSystem:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region

    endpoint = s3_endpoint()
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if endpoint:
        # Checksums at the end of an upload are refused (411) by servers that are not Amazon's.
        os.environ.setdefault("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
    elif not region and not os.environ.get("AWS_PROFILE"):
        region = resolve_s3_region(bucket)
    return S3FileSystem(
        endpoint_override=endpoint,
        region=region or ("us-east-1" if endpoint else None),
        request_timeout=SILENCE_AT_UPLOADS_SECONDS if purpose == WRITING else SILENCE_SECONDS,
        connect_timeout=2,
        # A small object goes in one request, when it is complete.
        allow_delayed_open=True,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
    )


def _gs(*_: object) -> FileSystem:
    from datetime import timedelta

    from pyarrow.fs import GcsFileSystem

    scheme, _colon, server = gs_emulator().rpartition("://")
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

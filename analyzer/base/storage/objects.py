"""Objects and folders in storage: what there is at an address, small reads, streams to write, removal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from analyzer.base.storage.addresses import Address, StorageError
from analyzer.base.storage.environment import server_name
from analyzer.base.storage.error_texts import NO_BUCKET
from analyzer.base.storage.filesystems import WRITING, client
from analyzer.base.storage.odd_answers import odd_answer


class StorageEntry(NamedTuple):
    """An object or a folder. Only an object has a size, and the time of its last change (ns since the epoch)."""

    address: Address
    is_folder: bool
    size_bytes: int = 0
    modified_ns: int | None = None


def find_object(at: Address) -> StorageEntry | None:
    """The object at an address; or the folder, when something lies below it; or None. Raises StorageError."""
    from pyarrow.fs import FileType

    try:
        with client(at) as storage:
            info = storage.get_file_info(at.path)
    except StorageError as error:
        if "No response body" in str(error.__cause__):
            list_folder(at)  # it fails too, and its error says why
        raise
    return None if info.type == FileType.NotFound else _found(at, info)


def etag_of(file: Any) -> str | None:
    """What the server calls the content of an object that pyarrow opened to read: equal for equal bytes that came in the same way.
    None where it tells none. No request is made. Raises OSError."""
    told = {name.lower(): value for name, value in (file.metadata() or {}).items()}.get("etag", b"")
    return told.decode("ascii", "replace").strip('"') or None


def content_type_of(file: Any) -> str:
    """What the server says of the sort of content of an object that pyarrow opened to read; empty where it says nothing."""
    told = {name.lower(): value for name, value in (file.metadata() or {}).items()}.get("content-type", b"")
    return told.decode("ascii", "replace") if isinstance(told, bytes) else str(told)


def current_etag(at: Address) -> str | None:
    """The same of an object as it is now: one request. Raises StorageError."""
    with client(at) as storage, storage.open_input_file(at.path) as file:
        return etag_of(file)


def missing_bucket_error(at: Address) -> StorageError | None:
    """The error to raise when nothing was found because the bucket does not exist, or because what answers is no storage; None when
    it exists, or may exist."""
    if odd := odd_answer(at):
        return StorageError(f"{at.uri}: {odd}")
    try:
        return (
            None
            if find_object(at._replace(key=""))
            else StorageError(f"{at.uri}: {NO_BUCKET.format(server=server_name(at.scheme, at.root))}")
        )
    except StorageError:
        return None


def list_folder(at: Address, recursive: bool = False) -> list[StorageEntry]:
    """The entries of a folder, in no order; none when there is no such folder. Raises StorageError."""
    from pyarrow.fs import FileSelector

    with client(at) as storage:
        infos = storage.get_file_info(FileSelector(at.path, recursive=recursive, allow_not_found=True))
    return [_found(at, info) for info in infos]


def _found(at: Address, info: Any) -> StorageEntry:
    if not info.is_file:
        return StorageEntry(at.at_path(info.path), True)
    return StorageEntry(at.at_path(info.path), False, info.size, info.mtime_ns)


@contextmanager
def object_writer(at: Address) -> Iterator[Any]:
    """A binary stream that becomes an object when the block ends; after an error a part of the object may be there.

    Raises StorageError.
    """
    with client(at, WRITING) as storage:
        stream = storage.open_output_stream(at.path, compression=None)
    try:
        yield stream
    finally:
        with client(at, WRITING):
            stream.close()


def remove_object(at: Address) -> None:
    """Removes one object. Raises StorageError."""
    with client(at) as storage:
        storage.delete_file(at.path)


def move_object(at: Address, to: Address) -> None:
    """Gives an object another key of the same bucket: it is copied by the server, then removed. Raises StorageError."""
    with client(at, WRITING) as storage:
        storage.move(at.path, to.path)

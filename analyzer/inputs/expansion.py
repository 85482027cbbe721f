"""From what a person names to captures: paths, globs, directories, addresses in object storage, standard input."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import unquote

from analyzer.base.storage.addresses import Address, StorageError, is_storage_uri, parse_address
from analyzer.base.storage.objects import StorageEntry, find_object, list_folder, missing_bucket_error
from analyzer.base.text import file_text, input_name
from analyzer.inputs.capture_heads import first_look
from analyzer.inputs.sources import STANDARD_INPUT, InputError, Source, input_error_text
from dissectors.errors import DissectError
from dissectors.formats.format_detection import REQUEST_LOG, TELLING_BYTES, is_capture, is_request_log, open_reader

# A broker's log of requests may begin with other lines.
_LOG_HEAD_BYTES = 1 << 16
_COMPRESSED_NAME = re.compile(r"\.(gz|zst|zstd|lz4|xz|bz2)$", re.IGNORECASE)
_FILE_URI = re.compile(r"file://(?:localhost)?(?=/)", re.IGNORECASE)
# Objects whose heads are read at the same time: each takes a round trip or two.
_HEADS_AT_ONCE = 16


@dataclass(frozen=True)
class Expansion:
    """The captures that inputs name: sources in order, an error for each input that is no capture, and the names of files in
    directories that were passed over because they are no captures."""

    sources: list[Source]
    errors: list[InputError]
    passed_over: list[str]

    def logs(self) -> list[Source]:
        """The brokers' logs of requests, where nothing else was named. What comes through a pipe is looked into only where all else
        is a log."""
        logs = [error.log for error in self.errors if isinstance(error, _NoCaptureError) and error.log is not None]
        is_all = len(logs) == len(self.errors) and all(source.size_bytes is None for source in self.sources)
        return [*logs, *self.sources] if is_all and all(map(_is_log_of_pipe, self.sources)) else []


def expand(inputs: Sequence[str]) -> Expansion:
    """Finds the captures that `inputs` name: paths, globs, directories (without subdirectories), `-` (standard input), and
    the same in object storage (s3://BUCKET/KEY, gs://, abfss://).

    Inputs keep their order; files of one glob or directory are in the natural order of their numbers. Each regular file
    is opened to check that it is a capture; files of a directory that are none are passed over. Never raises for an input.
    """
    found = Expansion([], [], [])
    for given in inputs:
        try:
            _expand_one(given, found)
        except StorageError as error:
            found.errors.append(InputError(str(error)))
        except InputError as error:
            found.errors.append(error)
    return found


def _expand_one(given: str, found: Expansion) -> None:
    if _FILE_URI.match(given):
        given = unquote(_FILE_URI.sub("", given))
    path = Path(given)
    if given == STANDARD_INPUT:
        found.sources.append(Source(STANDARD_INPUT))
    elif is_storage_uri(given):
        _expand_uri(given, found)
    elif has_magic(given) and not path.exists():
        _expand_glob(given, found)
    elif path.is_dir():
        _expand_directory(path, found)
    else:
        found.sources.append(_checked(path))


def _expand_glob(pattern: str, found: Expansion) -> None:
    names = glob(pattern, recursive=True)  # noqa: PTH207 (pathlib takes no absolute patterns)
    paths = [path for path in map(Path, names) if not path.is_dir()]
    if not paths:
        raise InputError(f"{file_text(pattern)}: no file matches; check the pattern")
    _add(map(_tried, sorted(paths, key=natural)), found, only_captures=False)


def _expand_directory(folder: Path, found: Expansion) -> None:
    try:
        paths = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    except OSError as error:
        raise InputError(input_error_text(file_text(str(folder)), error)) from error
    nothing = _add(map(_tried, sorted(paths, key=natural)), found, only_captures=True)
    if nothing is not None:
        name = file_text(str(folder))
        raise InputError(f"{name}: no captures in this directory{nothing}; for subdirectories give '{name}/**/*.pcap'")


def _expand_uri(uri: str, found: Expansion) -> None:
    at = parse_address(uri)
    there = find_object(at)
    if there is None and has_magic(at.key):
        if _add_objects(_matching(at), found, only_captures=False) is None:
            return
        advice = "no object matches; check the pattern"
    elif there is None:
        advice = f"no such object; for all objects with this prefix give '{at.uri}*'"
    elif there.is_folder:
        below = [one for one in list_folder(at) if not one.is_folder and not _name(one).startswith(".")]
        nothing = _add_objects(below, found, only_captures=True)
        if nothing is None:
            return
        advice = f"no captures here{nothing}; for those in subfolders give '{at.uri}/**/*.pcap'"
    else:
        found.sources.append(_checked(there))
        return
    raise missing_bucket_error(at) or InputError(f"{uri}: {advice}")


def _name(one: StorageEntry) -> str:
    return one.address.key.rpartition("/")[2]


def _matching(pattern: Address) -> Iterator[StorageEntry]:
    """Objects whose keys match a pattern like file names: storage has no globs, but can list a folder."""
    parts = pattern.key.split("/")
    plain = next(number for number, part in enumerate(parts) if has_magic(part))
    folder = pattern._replace(key="/".join(parts[:plain]))
    for one in list_folder(folder, recursive=plain < len(parts) - 1 or parts[-1] == "**"):
        if not one.is_folder and _matches(one.address.key.split("/")[plain:], parts[plain:]):
            yield one


def _matches(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether the parts of a key match those of a pattern. `**` matches any number of folders; a name that begins with a dot
    is matched only by a pattern that does."""
    if not patterns:
        return not parts
    if patterns[0] == "**":
        return _matches(parts, patterns[1:] or ["*"]) or (
            len(parts) > 1 and not parts[0].startswith(".") and _matches(parts[1:], patterns)
        )
    if not parts or (parts[0].startswith(".") and not patterns[0].startswith(".")):
        return False
    return fnmatchcase(parts[0], patterns[0]) and _matches(parts[1:], patterns[1:])


def _add_objects(entries: Iterable[StorageEntry], found: Expansion, *, only_captures: bool) -> str | None:
    in_order = sorted(entries, key=lambda one: natural(PurePosixPath(one.address.key)))
    with ThreadPoolExecutor(_HEADS_AT_ONCE) as pool:
        return _add(pool.map(_tried, in_order), found, only_captures=only_captures)


def _add(tried: Iterable[Source | InputError], found: Expansion, *, only_captures: bool) -> str | None:
    """Adds captures and errors; then None. Where there was neither, or no capture with `only_captures`: why, in brackets, of the
    first of the other files."""
    captures, others, errors = [], [], []
    for one in tried:
        if isinstance(one, Source):
            captures.append(one)
        elif isinstance(one, _NoCaptureError) and only_captures and not one.can_be_converted:
            others.append(one)
        else:
            errors.append(one)
    if not captures:
        errors += [one for one in others if one.log is not None]
    found.sources.extend(captures)
    found.errors.extend(errors)
    if captures:
        found.passed_over.extend(one.name for one in others)
    told = errors and (not only_captures or any(isinstance(error, _NoCaptureError) for error in errors))
    if captures or told:
        return None
    return f" ({PurePosixPath(others[0].name).name}: {others[0].got})" if others else ""


def _is_log_of_pipe(source: Source) -> bool:
    try:
        return is_request_log(source.look(_shows_what_it_is))
    except InputError:
        return False  # raised again when the source is read


def _shows_what_it_is(head: bytes) -> bool:
    """A capture does so at once, so that nobody waits for more of it."""
    return is_capture(head) or is_request_log(head) or len(head) >= _LOG_HEAD_BYTES


def _tried(place: Path | StorageEntry) -> Source | InputError:
    try:
        return _checked(place)
    except InputError as error:
        return error


class _NoCaptureError(InputError):
    """The file can be read, but is no capture."""

    name = ""
    got = ""
    can_be_converted = False  # it is a capture, in a format that other tools read
    log: Source | None = None  # it is a broker's log of requests


def _checked(place: Path | StorageEntry) -> Source:
    """The source at a place, if it begins like a capture. A file that is not regular can be read only once, and is not checked."""
    if isinstance(place, Path):
        source = Source(file_text(str(place)), place)
        try:
            status = place.stat()
        except OSError as error:
            raise InputError(input_error_text(source.name, error)) from error
        if not stat.S_ISREG(status.st_mode):
            return source
        source.size_bytes, source.modified_ns = status.st_size, status.st_mtime_ns
    else:
        uri = place.address.uri
        source = Source(uri, size_bytes=place.size_bytes, uri=uri, modified_ns=place.modified_ns)
    # An object is looked at once, for all that a plan asks: each look takes two round trips.
    head = first_look(source) if source.uri else next(source.blocks(TELLING_BYTES), b"")
    try:
        open_reader(head[:TELLING_BYTES])
    except DissectError as error:
        is_log = is_request_log(next(source.blocks(_LOG_HEAD_BYTES), b""))
        refused = _NoCaptureError(log_alone(source) if is_log else not_a_capture(source, error))
        refused.log = source if is_log else None
        refused.name, refused.got = source.name, _got(error)
        refused.can_be_converted = _is_other_capture(error.got)
        raise refused from error
    return source


def log_alone(source: Source) -> str:
    """One line for a broker's log of requests where packets are needed."""
    name = input_name(source.name)
    return (
        f"{name}: {REQUEST_LOG}, which has no packets; give it to `kanalyze` alone, "
        f"beside a capture give it as --request-log {source.name}"
    )


def not_a_capture(source: Source, error: DissectError) -> str:
    """One line for an input whose first bytes `open_reader` refused."""
    name = input_name(source.name)
    if source.notes:
        return f"{name}: {source.notes[0].text}"
    if error.got == REQUEST_LOG:
        return log_alone(source)
    if error.got == "an empty file":
        return f"{name}: empty; was anything captured?"
    if error.kind == "truncated":
        return f"{name}: truncated within its header; create the file again"
    return f"{name}: not a readable capture: expected {error.wanted}, got {error.got}; {_advice(error.got)}"


def _got(error: DissectError) -> str:
    """What is there instead of a capture, in a few words."""
    return "truncated within its header" if error.kind == "truncated" else f"got {error.got}"


def _advice(got: str) -> str:
    if "archive" in got:
        return "unpack it first"
    if got.endswith(" data"):
        return "it is compressed twice, unpack it first"
    if _is_other_capture(got):
        return "convert it: editcap -F pcapng FILE NEW.pcapng (part of Wireshark)"
    if got == "text":
        return "give what tcpdump -w or Wireshark wrote (of a broker's logs `kanalyze` reads kafka-request.log)"
    return "give what tcpdump -w or Wireshark wrote"


def _is_other_capture(got: str) -> bool:
    return "capture" in got or "trace" in got


def natural(path: PurePath) -> list[list[str | int]]:
    """Sort key: numbers inside names by value, so that tcpdump's x.pcap, x.pcap1, ... x.pcap10 stay in order."""
    parts = [re.split(r"([0-9]+)", _COMPRESSED_NAME.sub("", part)) for part in path.parts]
    return [[int(piece) if index % 2 else piece for index, piece in enumerate(pieces)] for pieces in parts]

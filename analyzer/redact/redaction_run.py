"""One redaction from captures to a file: redact, verify, write, and say in a manifest what was kept and why."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.base.outputs import packed
from analyzer.extract.pcapng_file import PcapngFile
from analyzer.inputs.sources import InputError, Source
from analyzer.redact import allow_list
from analyzer.redact.counts import Counts
from analyzer.redact.pseudonyms import Pseudonyms, Unchanged
from analyzer.redact.redacting import redacted
from analyzer.redact.verification import Verdict, verify
from analyzer.version import VERSION

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.base.outputs import Output

# What is not confirmed becomes zeros, and then the proof begins again: at most so often.
_MOST_TURNS = 5


class NotProved(Exception):
    """Verification found what should not be there; `problems` are lines for a person."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Done:
    """What came of it. `failures`: a line for each capture that could not be read to its end."""

    counts: Counts
    failures: list[str]
    manifest: dict[str, Any]


def redact(
    sources: Sequence[Source],
    path: Path,
    suffix: str,
    options: Options,
    key: bytes,
    verifies: bool,
    rewind: Callable[[], object],
    progress: Callable[[int], None] | None = None,
    names: Collection[bytes] = (),
) -> Done:
    """Writes the redaction of captures, which are in the order of time, to a new file at `path`, compressed as `suffix` says;
    none of `names` may be in it when it `verifies`.

    Raises NotProved when it `verifies` and that fails: then the file must go. InputError when nothing could be read; OSError.
    """
    pseudonyms = Pseudonyms(key)
    with redacted(sources, options, pseudonyms, rewind, progress) as made:
        if made.failures and not made.counts.packets:
            raise InputError("\n".join(made.failures))
        with packed(path, suffix) as sink:
            made.write(PcapngFile(sink))
        counts, failures, kept = made.counts, made.failures, made.kept
    del made  # the proof reads all of it once more, and needs the memory
    verdict = None
    for turn in range(_MOST_TURNS if verifies else 0):
        rewind()
        verdict = verify(path, sources, options, rewind, names=names)
        if not verdict.unconfirmed or turn == _MOST_TURNS - 1:
            break
        _zero_unconfirmed(path, suffix, options)
    if verdict is not None and verdict.problems:
        raise NotProved(verdict.problems)
    return Done(counts, failures, manifest(counts, kept, len(sources), verdict))


def redact_decrypted(
    sources: Sequence[Source],
    path: Path,
    suffix: str,
    options: Options,
    key: bytes,
    verifies: bool,
    rewind: Callable[[], object],
    progress: Callable[[int], None] | None = None,
    names: Collection[bytes] = (),
) -> Done:
    """As `redact`, of TLS connections whose keys are known what was said in them, as TCP. Raises also InputError when nothing could
    be decrypted."""
    from analyzer.redact.decrypting import decrypted

    with decrypted(sources, options, rewind, progress) as plain:
        done = redact(plain.sources, path, suffix, options, key, verifies, lambda: None, names=names)
        done.counts.without_time += plain.without_time
        done.failures[:0] = plain.failures
        told = {
            "connections": plain.connections,
            "content_bytes": plain.content_bytes,
            "packets_left_out": plain.left_out,
        }
        done.manifest["decrypted"] = told
    return done


def _zero_unconfirmed(path: Path, suffix: str, options: Options) -> None:
    """Of a damaged capture some bytes were read as a message that nobody takes for one any more, now that what stood around it is
    zero. They become zeros too."""
    output = Source(path.name, path, path.stat().st_size)
    again = path.with_name(f"{path.name}.again")
    try:
        with redacted([output], options, Unchanged(), lambda: None) as made, packed(again, suffix) as sink:
            made.write(PcapngFile(sink))
        again.replace(path)
    finally:
        again.unlink(missing_ok=True)


def manifest(counts: Counts, kept: set[tuple[str, str]], captures: int, verdict: Verdict | None) -> dict[str, Any]:
    """What was kept and why, in plain values; it names nothing that was not kept."""
    words: dict[str, list[str]] = {}
    for kind, word in sorted(kept):
        words.setdefault(kind, []).append(word)
    proof: dict[str, Any] | None = None
    if verdict is not None:
        proof = {
            "packets_compared": verdict.packets,
            "bytes_compared": verdict.packet_bytes,
            "names_and_values_sought": verdict.sought,
        }
    by_treatment: dict[str, list[str]] = {}
    for name, treatment in sorted({**allow_list.TEXTS, **allow_list.BYTES}.items()):
        by_treatment.setdefault(treatment, []).append(name)
    return {
        "kanalyze": VERSION,
        "captures": captures,
        "verified": proof,
        "kept_as_it_is": {
            "packets": "times, sizes, ports, sequence numbers, flags, windows, TTLs, IP ids, known TCP options",
            "messages": "lengths, counts, tags, and the numbers of these fields",
            "number_fields": sorted(allow_list.NUMBERS),
            "record_batches": "headers; of records offsets, times and lengths; control records of transactions",
            "tls": "record headers, versions, ciphers, alerts",
            "well_known_words": words,
        },
        "replaced_by_pseudonyms": {
            "packets": "MAC and IP addresses",
            "uuid_fields": sorted(allow_list.UUIDS),
            "text_and_bytes_fields": by_treatment,
        },
        "replaced_by_zeros": "all else: keys, values, headers, secrets, fields without a name on the list, other protocols",
        "counts": {name: value for name, value in dataclasses.asdict(counts).items() if value},
    }


def write_manifest(target: Output, done: Done) -> None:
    """Writes the manifest beside a file or an object, beside a pipe none. Raises RefusedError, OSError."""
    if target.is_kept:
        with target.beside(".manifest.json").stream() as sink:
            sink.write((json.dumps(done.manifest, indent=2) + "\n").encode())

"""What is compared: the captures of `samples/` and of the shared folder, as the inputs of a command line.

Both checkouts are run in a folder that has the same links to the captures, so the paths that they print are equal. Shared
captures are looked for where the tests look for them: `$KANALYZE_SHARED`, else `shared` beside the checkout.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import pyarrow

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("KANALYZE_SHARED", ROOT.parent / "shared"))
VECTORS = Path(__file__).resolve().parents[2] / "tests" / "data" / "kafka"

_CAPTURE = re.compile(r"(?P<name>[^.]+)(\.\d+)?\.(pcap|pcapng)(\.zst|\.gz)?")
_ROTATED = re.compile(r"(?P<name>[^.]+)\.\d+\.pcap")
_PIECE = re.compile(r"lab/(shape_(?!full)|[^.]+\.\d+\.)")
_NO_CAPTURE = (".md", ".tsv")
# So many rounds of the lab's `cluster` have more than 150,000 exchanges and 100 MB: both change how a run is done.
_ROUNDS = 13
_ROUND_SECONDS = 3600

KAFKA = "kafka"  # one capture, or a set that is small
PIECE = "piece"  # one of a rotated set, or the lab's `shape` in another form: other packets, much the same rows
EDGE = "edge"  # a capture of others, mostly without Kafka: fewer questions
LARGE = "large"  # so large that processes share its connections
WORDS = "words"  # no capture at all: help, schemas, messages in hex

_QUICK = (
    "samples/groups_848.pcap.zst",
    "samples/throttle.pcap.zst",
    "samples/transactions.pcap.zst",
    "lab/errors.pcap",
    "lab/sasl_old.pcap",
    "lab/tls13.pcap with keys",
    "lab/routed with taps",
    "lab/shape_rot",
    "public/kafka/segmentio__kafka-go/fixtures/v2bc-v1.pcapng",
)
_QUICK_EDGE = ("test201.pcapng", "tcp-overlap2.pcap", "pppoe-over-qinq.pcap", "solaris.snoop")


@dataclass(frozen=True)
class Unit:
    """An input that is asked all the questions of its kind. `inputs` and `options` are words of the command line."""

    name: str
    kind: str
    inputs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def is_quick(self) -> bool:
        return self.name in _QUICK or self.name.endswith(_QUICK_EDGE) or self.kind == WORDS


class Captures:
    """All units over the samples of one checkout and the shared captures."""

    def __init__(self, samples: Path, made: Path) -> None:
        """`made` is a folder for what `make` writes."""
        self._folders = {
            "samples": samples,
            "lab": SHARED / "captures" / "lab",
            "public": SHARED / "captures" / "public",
        }
        self._folders = {name: folder for name, folder in self._folders.items() if folder.is_dir()}
        self._made = made

    def units(self, quick: bool) -> list[Unit]:
        """In the order in which they should be run: what takes longest comes first. `quick`: a dozen small ones."""
        found = [*self._large(), *self._kafka(), *self._edge(), Unit("no capture", WORDS)]
        found = [unit for unit in found if unit.is_quick or not quick]
        return sorted(found, key=lambda unit: (unit.kind != LARGE, unit.kind == EDGE, -self._bytes(unit)))

    def link(self, sandbox: Path, samples: Path) -> None:
        """Makes the captures reachable from a folder; `samples` are those of the checkout that is run in it."""
        for name, folder in ({"made": self._made} | self._folders | {"samples": samples}).items():
            (sandbox / name).symlink_to(folder.resolve(), target_is_directory=True)

    def digest(self, unit: Unit) -> str:
        """Another one when a byte of its inputs is another."""
        files = sorted(self._files(unit)) if unit.kind != WORDS else sorted(self._made.glob("*.jsonl"))
        return sha256("".join(_digest(path) for path in files).encode()).hexdigest()

    def _kafka(self) -> Iterator[Unit]:
        """Each file with Kafka in it, of equal ones the first; those that belong together as one input too."""
        seen: set[str] = set()
        for word in self._kafka_files():
            path = self._path(word)
            if _digest(path) not in seen:
                seen.add(_digest(path))
                yield Unit(word, PIECE if _PIECE.match(word) else KAFKA, (word,))
        lab = self._folders.get("lab")
        if lab is None:
            return
        for keys in sorted(lab.glob("*.keylog")):
            for word in self._kafka_files():
                if word.startswith(f"lab/{keys.stem}."):
                    yield Unit(f"{word} with keys", KAFKA, (word,), ("--tls-keylog", f"lab/{keys.name}"))
        names = {match["name"] for path in lab.iterdir() if (match := _ROTATED.match(path.name))}
        for name in sorted(names):
            yield Unit(
                f"lab/{name}", KAFKA, tuple(word for word in self._kafka_files() if word.startswith(f"lab/{name}."))
            )
        routed = tuple(word for word in self._kafka_files() if word.startswith("lab/routed_"))
        taps = ("--tap", "broker=*routed_broker*", "--tap", "client=*routed_client*")
        yield Unit("lab/routed with taps", KAFKA, routed, taps)
        yield Unit("lab/routed", KAFKA, routed)

    def _kafka_files(self) -> list[str]:
        flat = [
            f"{name}/{path.name}"
            for name in ("samples", "lab")
            if name in self._folders
            for path in sorted(self._folders[name].iterdir())
            if _CAPTURE.fullmatch(path.name)
        ]
        return [*flat, *self._public("kafka")]

    def _edge(self) -> Iterator[Unit]:
        for word in self._public("edge"):
            yield Unit(word, EDGE, (word,))

    def _public(self, below: str) -> list[str]:
        folder = self._folders.get("public")
        if folder is None:
            return []
        files = sorted(
            path for path in (folder / below).rglob("*") if path.is_file() and path.suffix not in _NO_CAPTURE
        )
        return [f"public/{path.relative_to(folder)}" for path in files]

    def _large(self) -> Iterator[Unit]:
        yield Unit("samples", LARGE, ("samples",))
        if "lab" in self._folders:
            yield Unit("lab", LARGE, ("lab",))
            yield Unit("made/large.pcap", LARGE, ("made/large.pcap",))

    def make(self, units: list[Unit]) -> None:
        """Writes what the units take from the folder `made`."""
        for path in sorted(VECTORS.glob("vectors-*.jsonl.zst")):
            (self._made / path.stem).write_bytes(unpacked(path))
        if any(unit.name == "made/large.pcap" for unit in units):
            files = sorted(self._folders["lab"].glob("cluster.*.pcap*"))
            (self._made / "large.pcap").write_bytes(repeated([unpacked(path) for path in files]))

    def _bytes(self, unit: Unit) -> int:
        return sum(path.stat().st_size * (10 if path.suffix in (".zst", ".gz") else 1) for path in self._files(unit))

    def _files(self, unit: Unit) -> Iterator[Path]:
        # What follows an option may be a file of keys.
        for word in (*unit.inputs, *unit.options):
            path = self._path(word)
            if path.is_dir():
                yield from (each for each in path.iterdir() if each.is_file())
            elif path.is_file():
                yield path

    def _path(self, word: str) -> Path:
        folder, _, rest = word.partition("/")
        return (self._folders | {"made": self._made}).get(folder, Path("nowhere")) / rest


def unpacked(path: Path) -> bytes:
    """The bytes of a file; of a `.zst` file, those that were compressed."""
    with pyarrow.input_stream(path, compression="zstd" if path.suffix == ".zst" else None) as stream:
        data: bytes = stream.read()
    return data


def repeated(files: list[bytes]) -> bytes:
    """Captures (pcap, little-endian, all with the same head) as one, again and again, each round an hour later."""
    records = bytearray(b"".join(data[24:] for data in files))
    starts, at = [], 0
    while at < len(records):
        starts.append(at)
        at += 16 + struct.unpack_from("<I", records, at + 8)[0]
    rounds = [files[0][:24]]
    for _ in range(_ROUNDS):
        rounds.append(bytes(records))
        for start in starts:
            struct.pack_into("<I", records, start, struct.unpack_from("<I", records, start)[0] + _ROUND_SECONDS)
    return b"".join(rounds)


@cache
def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()

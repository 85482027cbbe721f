"""What every kind of input has in common, and how an input becomes a file and comes back."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Protocol


class Kind(Protocol):
    """A kind of input: `make` gives one, `check` runs a round of them and raises when a law is broken.

    An input is a nest of tuples of numbers, text, bytes and arrays of numbers, so that it can be kept as JSON.
    """

    name: str
    round_inputs: int

    def make(self, chance: Random) -> Any: ...

    def check(self, inputs: Sequence[Any]) -> None: ...


class Broken(AssertionError):
    """A law does not hold; the message says which."""


def law(holds: bool, *what: object) -> None:
    """Raises unless `holds`: an assert that python -O keeps."""
    if not holds:
        raise Broken(" ".join(map(str, what)))


def to_json(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"hex": bytes(value).hex()}
    if isinstance(value, array):
        return {"numbers": value.tolist()}
    return [to_json(each) for each in value] if isinstance(value, tuple | list) else value


def from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"]) if "hex" in value else array("q", value["numbers"])
    return tuple(from_json(each) for each in value) if isinstance(value, list) else value


def keep(folder: Path, name: str, kind: str, inputs: Sequence[Any], why: str) -> Path:
    """Writes inputs that break something, so that `load` reads them back."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"kind": kind, "why": why, "inputs": to_json(list(inputs))}) + "\n")
    return path


def load(path: Path) -> tuple[str, list[Any]]:
    """(kind, inputs) of a file that `keep` wrote."""
    row = json.loads(path.read_text())
    return row["kind"], [from_json(each) for each in row["inputs"]]

"""Where a compiled stage indexes without checking, it indexes rows of our own; captured bytes are checked first, always."""

from __future__ import annotations

import ast
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from dissectors import arrow_buffers, layout
from dissectors.kafka.columns.exchanges import Exchanges
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.framing.frames import Frames
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets
from dissectors.tcp.reassembly import Reassembly

ROOT = Path(__file__).resolve().parent.parent
STAGES = [path for path in sorted((ROOT / "dissectors").rglob("*.py")) if "boundscheck(False)" in path.read_text()]
# What a stage makes itself, with a place for each of eight rows, and gives away as a bytearray.
OF_OUR_OWN = {"bits"}


def is_unchecked(function: ast.FunctionDef) -> bool:
    return any("boundscheck(False)" in ast.unparse(each) for each in function.decorator_list)


def declared(node: ast.ClassDef) -> dict[str, str]:
    """Attribute -> type, of what a class declares itself."""
    return {
        ast.unparse(each.target): ast.unparse(each.annotation) for each in node.body if isinstance(each, ast.AnnAssign)
    }


def classes(paths: Iterable[Path]) -> dict[str, dict[str, str]]:
    """Class -> attribute -> type, of all classes of these files; a class that inherits has what its base declares too."""
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)]
    found = {node.name: declared(node) for node in nodes}
    for node in nodes:
        for base in node.bases:
            found[node.name] = found.get(ast.unparse(base), {}) | found[node.name]
    return found


def memories(function: ast.FunctionDef) -> dict[str, str]:
    """Name -> type, of what a function declares: its arguments and its variables."""
    found: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            found[node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)] = ast.unparse(node.annotation)
    return found


def unchecked(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, str | None]]:
    """Each function that indexes without checking, and the class it is a method of."""
    for node in tree.body:
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef) and is_unchecked(each):
                yield each, node.name if isinstance(node, ast.ClassDef) else None


def memories_in(function: ast.FunctionDef, owner: str | None, attributes: dict[str, dict[str, str]]) -> dict[str, str]:
    """Name (`x`, `self.x`, `state.x`) -> type, of all that a function can reach."""
    known = memories(function)
    holders = {name: kind for name, kind in known.items() if kind in attributes}
    if owner is not None:
        holders["self"] = owner
    for name, kind in holders.items():
        known |= {f"{name}.{attribute}": of for attribute, of in attributes[kind].items()}
    return known


def indexed(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """What is indexed, and in which line; slices are clamped and compared whatever was asked for."""
    hints = [node.annotation for node in ast.walk(function) if isinstance(node, ast.AnnAssign | ast.arg)]
    skipped = {id(each) for hint in hints if hint is not None for each in ast.walk(hint)}
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and id(node) not in skipped and not isinstance(node.slice, ast.Slice):
            name = ast.unparse(node.value)
            if not name.endswith(".shape"):
                yield name, node.lineno


def checked_at(function: ast.FunctionDef, name: str) -> int | None:
    """The line in which the function raises unless it stays within `len(name)`."""
    for node in ast.walk(function):
        if isinstance(node, ast.If) and f"len({name})" in ast.unparse(node.test):
            assert isinstance(node.body[0], ast.Raise)
            assert "at < 0" in ast.unparse(node.test)
            return node.lineno
    return None


@pytest.mark.parametrize("path", STAGES, ids=lambda path: path.stem)
def test_only_rows_of_our_own_are_indexed_unchecked(path: Path) -> None:
    # Classes of two packages may have the same name: a stage uses those of its own.
    attributes = classes(path.parent.glob("*.py"))
    for function, owner in unchecked(ast.parse(path.read_text())):
        known = memories_in(function, owner, attributes)
        for name, line in indexed(function):
            kind = known.get(name, "an object of Python")
            where = f"{path.name}:{line} ({function.name})"
            assert "::1]" in kind, f"{where}: {name} is {kind}, and no memory of rows"
            if "uchar" in kind and name not in OF_OUR_OWN:
                check = checked_at(function, name)
                assert check is not None and check < line, f"{where}: {name} holds captured bytes"


def test_something_is_looked_at() -> None:
    assert {"frames", "fast_path", "walk"} <= {path.stem for path in STAGES}


def small(columns_of_it: int) -> memoryview:
    return new_matrix(columns_of_it, 8)


@pytest.mark.parametrize("lacks", ["columns", "rows"])
def test_a_matrix_that_is_too_small_is_told(lacks: str) -> None:
    """Who calls a stage with one gets an error, compiled or not, and no memory of somebody else."""

    def made(columns_of_it: int) -> memoryview:
        return small(columns_of_it - 1) if lacks == "columns" else small(columns_of_it)

    rows = 9 if lacks == "rows" else 8
    frames, values = made(layout.FRAME_COLUMNS), made(layout.VALUE_COLUMNS)
    with pytest.raises(ValueError, match="are needed"):
        Reassembly().feed(b"", made(layout.SEGMENT_COLUMNS), rows, 0, small(layout.CHUNK_COLUMNS))
    with pytest.raises(ValueError, match="are needed"):
        Packets().feed(b"", made(layout.PACKET_COLUMNS), rows, 0, small(layout.SEGMENT_COLUMNS))
    with pytest.raises(ValueError, match="are needed"):
        Frames(array("q", [0]), array("q", [0]), 1 << 20, 1 << 20).feed(
            b"", b"", made(layout.CHUNK_COLUMNS), rows, 0, 1, small(layout.FRAME_COLUMNS)
        )
    with pytest.raises(ValueError, match="are needed"):
        Walker().walk(b"", b"", frames, rows, values)
    with pytest.raises(ValueError, match="are needed"):
        Exchanges().feed(frames, values, 0, rows, 1, small(layout.ROW_COLUMNS), 0, 8)
    with pytest.raises(IndexError, match="too many"):
        arrow_buffers.bits_between(small(2), 2 if lacks == "columns" else 1, rows, 0, 1)

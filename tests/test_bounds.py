"""Where a compiled stage indexes without checking, it indexes rows of our own; captured bytes are checked first, always."""

from __future__ import annotations

import ast
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from dissectors import arrow_buffers, layout
from dissectors.kafka.columns.exchanges import Exchanges
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.framing.framing import Framing
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets
from dissectors.tcp.reassembly import Reassembly

ROOT = Path(__file__).resolve().parent.parent
TREES = {
    path: ast.parse(path.read_text())
    for path in sorted((ROOT / "dissectors").rglob("*.py"))
    if "import cython" in path.read_text()
}
STAGES = [path for path in TREES if "boundscheck(False)" in path.read_text()]
# What a stage makes itself, with a place for each of eight rows, and gives away as a bytearray.
OF_OUR_OWN = {"bits"}


def is_unchecked(function: ast.FunctionDef) -> bool:
    return any("boundscheck(False)" in ast.unparse(each) for each in function.decorator_list)


def classes() -> dict[str, dict[str, str]]:
    """Class -> attribute -> declared type, those of its bases included. Bases stand in files of their own, too."""
    nodes = {node.name: node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}

    def attributes(name: str) -> dict[str, str]:
        found = {}
        for base in nodes[name].bases:
            found |= attributes(ast.unparse(base)) if ast.unparse(base) in nodes else {}
        for each in nodes[name].body:
            if isinstance(each, ast.AnnAssign):
                found[ast.unparse(each.target)] = ast.unparse(each.annotation)
        return found

    return {name: attributes(name) for name in nodes}


CLASSES = classes()


def memories(function: ast.FunctionDef, owner: str | None) -> dict[str, str]:
    """Name (`x`, `self.x`, `state.x`) -> type, of what a function is given or declares. `owner` is the class of a method."""
    found: dict[str, str] = {}
    if owner is not None:
        found |= {f"self.{attribute}": kind for attribute, kind in CLASSES[owner].items()}
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            name = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
            found[name] = ast.unparse(node.annotation)
            found |= {f"{name}.{attribute}": kind for attribute, kind in CLASSES.get(found[name], {}).items()}
    return found


def unchecked_functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, str | None]]:
    """(function, class that it is a method of)"""
    for node in tree.body:
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef) and is_unchecked(each):
                yield each, node.name if isinstance(node, ast.ClassDef) else None


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


@pytest.mark.parametrize("path", STAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_rows_of_our_own_are_indexed_unchecked(path: Path) -> None:
    for function, owner in unchecked_functions(TREES[path]):
        known = memories(function, owner)
        for name, line in indexed(function):
            kind = known.get(name, "an object of Python")
            where = f"{path.name}:{line} ({function.name})"
            assert "::1]" in kind, f"{where}: {name} is {kind}, and no memory of rows"
            if "uchar" in kind and name not in OF_OUR_OWN:
                check = checked_at(function, name)
                assert check is not None and check < line, f"{where}: {name} holds captured bytes"


def test_something_is_looked_at() -> None:
    assert {"fast_path", "frames", "pairing", "tcp_header", "walk_values"} <= {path.stem for path in STAGES}
    looked_at = {
        name for path in STAGES for function, _ in unchecked_functions(TREES[path]) for name, _ in indexed(function)
    }
    assert {"f.side", "f.stream_block", "w.stack"} <= looked_at


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
        Framing(array("q", [0]), array("q", [0]), 1 << 20, 1 << 20).feed(
            b"", b"", made(layout.CHUNK_COLUMNS), rows, 0, 1, small(layout.FRAME_COLUMNS)
        )
    with pytest.raises(ValueError, match="are needed"):
        Walker().walk(b"", b"", frames, rows, values)
    with pytest.raises(ValueError, match="are needed"):
        Exchanges().feed(frames, values, 0, rows, 1, small(layout.ROW_COLUMNS), 0, 8)
    with pytest.raises(IndexError, match="too many"):
        arrow_buffers.bits_between(small(2), 2 if lacks == "columns" else 1, rows, 0, 1)

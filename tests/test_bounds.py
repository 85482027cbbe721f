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
from dissectors.kafka.framing.frames import Frames
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets
from dissectors.tcp.streams import Streams

ROOT = Path(__file__).resolve().parent.parent
STAGES = [path for path in sorted((ROOT / "dissectors").rglob("*.py")) if "boundscheck(False)" in path.read_text()]
# What a stage makes itself, with a place for each of eight rows, and gives away as a bytearray.
OF_OUR_OWN = {"bits"}


def is_unchecked(function: ast.FunctionDef) -> bool:
    return any("boundscheck(False)" in ast.unparse(each) for each in function.decorator_list)


def annotated(node: ast.AST) -> Iterator[tuple[str, str]]:
    """(name, type) of what a class or a function declares, its arguments included."""
    for each in ast.walk(node):
        if isinstance(each, ast.AnnAssign | ast.arg) and each.annotation is not None:
            yield each.arg if isinstance(each, ast.arg) else ast.unparse(each.target), ast.unparse(each.annotation)


def read_classes() -> dict[str, ast.ClassDef]:
    """Every class of the compiled stages: the state that functions of one file index may be declared in another."""
    trees = [ast.parse(path.read_text()) for path in (ROOT / "dissectors").rglob("*.py")]
    return {node.name: node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


CLASSES = read_classes()


def fields(name: str) -> dict[str, str]:
    """Field -> type, of a class and of those that it inherits from; empty for what is no class of a stage."""
    if name not in CLASSES:
        return {}
    found: dict[str, str] = {}
    for base in CLASSES[name].bases:
        found |= fields(ast.unparse(base))
    for each in CLASSES[name].body:
        if isinstance(each, ast.AnnAssign):
            found[ast.unparse(each.target)] = ast.unparse(each.annotation)
    return found


def memories(function: ast.FunctionDef, owner: str) -> dict[str, str]:
    """Name (`x`, `state.x`) -> type, of what a function can index; `owner` is the class of a method."""
    found = dict(annotated(function))
    for name, kind in [*found.items(), ("self", owner)]:
        found |= {f"{name}.{field}": type_ for field, type_ in fields(kind).items()}
    return found


def functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, str]]:
    """The functions of a file, each with the name of its class, empty where there is none."""
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = node.name if isinstance(node, ast.ClassDef) else ""
        yield from ((each, owner) for each in inside if isinstance(each, ast.FunctionDef))


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
    for function, owner in functions(ast.parse(path.read_text())):
        if not is_unchecked(function):
            continue
        known = memories(function, owner)
        for name, line in indexed(function):
            kind = known.get(name, "an object of Python")
            where = f"{path.name}:{line} ({function.name})"
            assert "::1]" in kind, f"{where}: {name} is {kind}, and no memory of rows"
            if "uchar" in kind and name not in OF_OUR_OWN:
                check = checked_at(function, name)
                assert check is not None and check < line, f"{where}: {name} holds captured bytes"


def test_something_is_looked_at() -> None:
    assert {"frames", "streams", "walk_values"} <= {path.stem for path in STAGES}
    assert "::1]" in memories(ast.parse("def f(w: WalkState): pass").body[0], "")["w.code"]  # type: ignore[arg-type]
    assert "::1]" in memories(ast.parse("def f(self): pass").body[0], "Walker")["self.code"]  # type: ignore[arg-type]


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
        Streams().feed(b"", made(layout.SEGMENT_COLUMNS), rows, 0, small(layout.CHUNK_COLUMNS))
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

"""Data flows one way: every module stands in one line, and imports only what stands before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from module_order import ORDER, PACKAGES

ROOT = Path(__file__).resolve().parent.parent

# What bytes-in, values-out code has no business with: clock, files, processes, Arrow, SQL, screens.
FOREIGN_TO_DISSECTORS = {
    "_duckdb", "analyzer", "asyncio", "click", "datetime", "duckdb", "io", "logging", "multiprocessing", "pathlib", "pyarrow",
    "rich", "shutil", "socket", "subprocess", "tempfile", "threading", "time",
}  # fmt: skip

HEAVY = {
    "pyarrow",
    "_duckdb",
    "duckdb",
    "rich",
    "cramjam",
    "dpkt",
    "numpy",
    "dissectors",
    "multiprocessing",
    "importlib.metadata",
}


def modules() -> dict[str, Path]:
    """Every module of the project by its dotted name."""
    found = {}
    for package in ("dissectors", "analyzer", "kanalyze"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(name: str, with_types: bool = True) -> Iterator[tuple[str, int]]:
    """(module, line) of each import anywhere in the file; without those under `if TYPE_CHECKING:` on request."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and not with_types and ast.unparse(node.test) == "TYPE_CHECKING":
            todo += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: imports are absolute here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in MODULES else str(node.module)), node.lineno
        todo += ast.iter_child_nodes(node)


def place(name: str) -> int | None:
    """Where a module stands in the line; None: nowhere yet."""
    if name in ORDER:
        return ORDER.index(name)
    above = name.rpartition(".")[0] + ".*"
    return ORDER.index(above) if above in ORDER else None


def test_imports_point_to_the_left() -> None:
    """Of modules, and of their packages; and dissectors, bytes in and values out, know nothing of files, clocks and screens."""
    strangers = [name for name in MODULES if place(name) is None]
    assert not strangers, f"{strangers} have no place in ORDER yet: where in the flow do they stand?"
    back = []
    for name in MODULES:
        found = [(other, line) for other, line in imports(name) if other in MODULES]
        right = {other for other, _ in found if (place(other) or 0) >= (place(name) or 0)}
        right.update(packages_to_the_right(name, (other for other, _ in found)))
        back += [
            f"{MODULES[name].relative_to(ROOT)}:{line} imports {other}, which stands to its right"
            for other, line in found
            if other in right
        ]
        if name.startswith("dissectors"):
            foreign = [
                (other, line) for other, line in imports(name) if other.partition(".")[0] in FOREIGN_TO_DISSECTORS
            ]
            back += [f"{MODULES[name].relative_to(ROOT)}:{line} imports {other}" for other, line in foreign]
    assert not back, "\n".join(back)


def package(name: str) -> str:
    """The package that a module belongs to: the longest name of PACKAGES that its own begins with."""
    return max((each for each in PACKAGES if f"{name}.".startswith(f"{each}.")), key=len)


def packages_to_the_right(name: str, targets: Iterable[str]) -> list[str]:
    """Those of `targets` whose package stands to the right of the package of module `name`."""
    mine = PACKAGES.index(package(name))
    return [other for other in targets if other in MODULES and PACKAGES.index(package(other)) > mine]


def test_every_package_is_in_the_line() -> None:
    """Each directory with modules below `dissectors`, `analyzer` and `dissectors.kafka` stands in PACKAGES."""
    folders = {name for name, path in MODULES.items() if path.name == "__init__.py" and name.count(".") == 1}
    folders |= {name for name, path in MODULES.items() if path.name == "__init__.py" and ".kafka." in name}
    assert folders <= set(PACKAGES)
    assert all(name in MODULES for name in PACKAGES)


def test_dissectors_neither_print_nor_open() -> None:
    for name in (name for name in MODULES if name.startswith("dissectors")):
        for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "open", "input"), f"{name}:{node.lineno} calls {node.func.id}"


def test_the_line_has_no_strangers() -> None:
    strangers = [name for name in ORDER if name.removesuffix(".*") not in MODULES]
    assert not strangers


def test_an_arrow_back_is_seen() -> None:
    """The test above can fail: its two parts see a backward arrow, wherever it hides."""
    assert "analyzer.run.local" in {other for other, _ in imports("analyzer.cli.common")}, "inside a function"
    assert "analyzer.query.dataset" in {other for other, _ in imports("analyzer.cli.interrupts")}
    assert "analyzer.query.dataset" not in {other for other, _ in imports("analyzer.cli.interrupts", with_types=False)}
    left, right = place("dissectors.formats.pcap"), place("analyzer.cli.commands.report")
    assert left is not None and right is not None and left < right


def test_an_arrow_back_between_packages_is_seen() -> None:
    assert package("analyzer.ingest.facts.fact_tables") == "analyzer.ingest"
    assert package("analyzer.api") == "analyzer.api" and package("analyzer.cli.commands.report") == "analyzer.cli"
    assert packages_to_the_right("analyzer.inputs.engine", ["analyzer.distributed.plan"]) == [
        "analyzer.distributed.plan"
    ]
    assert packages_to_the_right("dissectors.tcp.reassembly", ["dissectors.tls.detection"])
    assert not packages_to_the_right("analyzer.distributed.plan", ["analyzer.inputs.sources", "json"])
    assert not packages_to_the_right("analyzer.run.local", ["analyzer.run.local", "analyzer.query.dataset"])


def test_start_up_is_light() -> None:
    """`kanalyze --version` loads neither Arrow, nor SQL, nor screens."""
    code = (
        "import sys; from analyzer.cli.main import main; assert main(['--version']) == 0; "
        f"print(sorted(set(sys.modules) & {HEAVY!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_verb_loads_only_itself() -> None:
    code = (
        "import sys; from analyzer.cli.main import main; assert main(['decode', '--help']) == 0; "
        "print(sorted(name for name in sys.modules if name.startswith('analyzer.cli.commands.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] == "['analyzer.cli.commands.decode']"

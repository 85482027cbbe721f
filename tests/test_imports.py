"""Data flows one way: every module stands in one line, and imports only what stands before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# From left to right. A name that ends in * stands for all modules below it, which do not import each other.
ORDER = (
    "dissectors",
    "dissectors.errors",
    "dissectors.layout",
    "dissectors.columns",
    # capture formats -> packets -> streams
    "dissectors.net",
    "dissectors.net.facts",
    "dissectors.net.pcap",
    "dissectors.net.pcapng",
    "dissectors.net.formats",
    "dissectors.net.links",
    "dissectors.net.fragments",
    "dissectors.net.packets",
    "dissectors.net.merge",
    "dissectors.net.gather",
    "dissectors.net.streams",
    "dissectors.net.tls",
    "dissectors.net.tls_names",
    "dissectors.net.tls_hello",
    "dissectors.net.tls_keys",
    "dissectors.net.tls_records",
    "dissectors.net.tls_sessions",
    # what messages are made of
    "dissectors.kafka",
    "dissectors.kafka.wire",
    "dissectors.kafka.fields",
    "dissectors.kafka.field_lines",
    "dissectors.kafka.language",
    "dissectors.kafka.schema",
    "dissectors.kafka.roles",
    "dissectors.kafka.headers",
    "dissectors.kafka.error_codes",
    "dissectors.kafka.nodes",
    "dissectors.kafka.interpreter",
    "dissectors.kafka.embedded",
    "dissectors.kafka.codecs",
    "dissectors.kafka.checksums",
    "dissectors.kafka.batches",
    "dissectors.kafka.control",
    "dissectors.kafka.records",
    "dissectors.kafka.explain",
    "dissectors.kafka.program",
    # frames -> walk -> exchanges
    "dissectors.kafka.frames",
    "dissectors.kafka.walk",
    "dissectors.kafka.exchanges",
    "dissectors.kafka.kinds",
    # chosen fields of messages
    "dissectors.kafka.pick",
    "dissectors.kafka.plain",
    "dissectors.kafka.batch_headers",
    "dissectors.kafka.sasl",
    # files, tables, people
    "analyzer.version",
    "analyzer.text",
    "analyzer.filters",
    "analyzer.options",
    "analyzer.shares",
    "analyzer.tables",
    "analyzer.expected",
    "analyzer.kinds",
    "analyzer.settings",
    "analyzer.links",
    "analyzer.unpack",
    "analyzer.objects",
    "analyzer.sources",
    "analyzer.raw",
    "analyzer.tls",
    "analyzer.fragments",
    "analyzer.facts",
    "analyzer.facts.tables",
    "analyzer.facts.kinds",
    "analyzer.facts.clusters",
    "analyzer.facts.groups",
    "analyzer.facts.heartbeats",
    "analyzer.facts.transactions",
    "analyzer.facts.logins",
    "analyzer.facts.collect",
    "analyzer.facts.batches",
    "analyzer.pipeline",
    "analyzer.inputs",
    "analyzer.small_tables",
    "analyzer.peek",
    "analyzer.plan",
    "analyzer.engine",
    "analyzer.points",
    "analyzer.window",
    "analyzer.wholes",
    "analyzer.kept_rows",
    "analyzer.spans",
    "analyzer.stitch",
    "analyzer.tasks",
    "analyzer.metrics",
    "analyzer.catalog",
    "analyzer.stored",
    "analyzer.dataset",
    "analyzer.resolve",
    "analyzer.pool",
    "analyzer.local",
    "analyzer.findings",
    "analyzer.find",
    "analyzer.spark.session",
    "analyzer.spark.rows",
    "analyzer.spark.stages",
    "analyzer.spark.dataflow",
    "analyzer.spark.views",
    "analyzer.spark.job",
    "analyzer.spark.sink",
    "analyzer.spark",
    "analyzer.significance",
    "analyzer.compare",
    "analyzer.checks",
    "analyzer.render",
    "analyzer.tree",
    "analyzer.bodies",
    "analyzer.report",
    "analyzer.report.format",
    "analyzer.shown",
    "analyzer.report.layout",
    "analyzer.report.keys",
    "analyzer.report.parts",
    "analyzer.report.clusters",
    "analyzer.report.facts",
    "analyzer.report.sentences",
    "analyzer.report.finding_rows",
    "analyzer.report.comparison",
    "analyzer.report.metrics",
    "analyzer.report.tls",
    "analyzer.report.sections",
    "analyzer.report.sections.errors",
    "analyzer.report.sections.attention",
    "analyzer.report.sections.*",
    "analyzer.report.terminal",
    "analyzer.export",
    "analyzer.api",
    # The package itself is the way in to the API, and nobody else's business.
    "analyzer",
    "analyzer.cli",
    "analyzer.cli.outcome",
    "analyzer.cli.values",
    "analyzer.cli.progress",
    "analyzer.cli.interrupts",
    "analyzer.cli.common",
    "analyzer.cli.screen",
    "analyzer.cli.table",
    "analyzer.cli.rows",
    "analyzer.cli.sections",
    "analyzer.cli.parts",
    "analyzer.cli.schemas",
    "analyzer.cli.bodies",
    "analyzer.cli.commands",
    "analyzer.cli.commands.*",
    "analyzer.cli.main",
)

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
    for package in ("dissectors", "analyzer"):
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


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_to_the_left(name: str) -> None:
    mine = place(name)
    assert mine is not None, f"{name} has no place in ORDER yet: where in the flow does it stand?"
    for other, line in imports(name):
        if other not in MODULES:
            continue
        theirs = place(other)
        assert theirs is not None, f"{other} has no place in ORDER yet"
        assert theirs < mine, f"{MODULES[name].relative_to(ROOT)}:{line} imports {other}, which stands to its right"


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("dissectors")])
def test_dissectors_keep_to_bytes(name: str) -> None:
    for other, line in imports(name):
        assert other.partition(".")[0] not in FOREIGN_TO_DISSECTORS, f"{name}:{line} imports {other}"
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "open", "input"), f"{name}:{node.lineno} calls {node.func.id}"


def test_the_line_has_no_strangers() -> None:
    strangers = [name for name in ORDER if name.removesuffix(".*") not in MODULES]
    assert not strangers


def test_an_arrow_back_is_seen() -> None:
    """The test above can fail: its two parts see a backward arrow, wherever it hides."""
    inside_functions = {other for other, _ in imports("analyzer.cli.common")}
    assert "analyzer.local" in inside_functions and "analyzer.dataset" in inside_functions
    assert "analyzer.dataset" not in {other for other, _ in imports("analyzer.cli.common", with_types=False)}
    left, right = place("dissectors.net.pcap"), place("analyzer.cli.commands.report")
    assert left is not None and right is not None and left < right


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

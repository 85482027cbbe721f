"""Data flows one way: every module stands in one line, and imports only what stands before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# From left to right. A name that ends in * stands for all modules below it, which do not import each other.
ORDER = (
    "dissectors",
    "dissectors.errors",
    "dissectors.numbering",
    "dissectors.layout",
    "dissectors.matrix",
    "dissectors.problems",
    "dissectors.arrow_buffers",
    # capture formats -> packets -> reassembly
    "dissectors.formats",
    "dissectors.formats.capture_facts",
    "dissectors.formats.pcap_limits",
    "dissectors.formats.pcap",
    "dissectors.formats.pcapng_codes",
    "dissectors.formats.pcapng_state",
    "dissectors.formats.pcapng_damage",
    "dissectors.formats.pcapng_packets",
    "dissectors.formats.pcapng_sections",
    "dissectors.formats.pcapng_blocks",
    "dissectors.formats.pcapng",
    "dissectors.formats.detection",
    "dissectors.packet",
    "dissectors.packet.rare_links",
    "dissectors.packet.ip_fragments",
    "dissectors.packet.layer_codes",
    "dissectors.packet.packet_state",
    "dissectors.packet.scopes",
    "dissectors.packet.link_layer",
    "dissectors.packet.tunnels",
    "dissectors.packet.ip",
    "dissectors.packet.shards",
    "dissectors.packet.tcp_header",
    "dissectors.packet.layers",
    "dissectors.packet.datagrams",
    "dissectors.packet.packets",
    "dissectors.tcp",
    "dissectors.tcp.merge",
    "dissectors.tcp.payloads",
    "dissectors.tcp.state_columns",
    "dissectors.tcp.sequence",
    "dissectors.tcp.flow_hash",
    "dissectors.tcp.state",
    "dissectors.tcp.sides",
    "dissectors.tcp.rows",
    "dissectors.tcp.connections",
    "dissectors.tcp.fast_path",
    "dissectors.tcp.duplicates",
    "dissectors.tcp.eviction_order",
    "dissectors.tcp.complete_connections",
    "dissectors.tcp.checkpoint",
    "dissectors.tcp.views",
    "dissectors.tcp.acknowledgments",
    "dissectors.tcp.stream_start",
    "dissectors.tcp.handshake",
    "dissectors.tcp.out_of_order",
    "dissectors.tcp.causal_order",
    "dissectors.tcp.delivery",
    "dissectors.tcp.ends",
    "dissectors.tcp.holes",
    "dissectors.tcp.draining",
    "dissectors.tcp.limits",
    "dissectors.tcp.thorough_path",
    "dissectors.tcp.reassembly",
    "dissectors.tls",
    "dissectors.tls.detection_columns",
    "dissectors.tls.detection",
    "dissectors.tls.names",
    "dissectors.tls.hello",
    "dissectors.tls.keys",
    "dissectors.tls.records",
    "dissectors.tls.sessions",
    # what messages are made of
    "dissectors.kafka",
    "dissectors.kafka.schema",
    "dissectors.kafka.schema.fields",
    "dissectors.kafka.schema.field_lines",
    "dissectors.kafka.schema.schema_files",
    "dissectors.kafka.schema.lookup",
    "dissectors.kafka.schema.roles",
    "dissectors.kafka.schema.headers",
    "dissectors.kafka.schema.error_codes",
    "dissectors.kafka.messages",
    "dissectors.kafka.messages.wire",
    "dissectors.kafka.messages.nodes",
    "dissectors.kafka.messages.interpreter",
    "dissectors.kafka.messages.embedded",
    "dissectors.kafka.messages.codecs",
    "dissectors.kafka.messages.checksums",
    "dissectors.kafka.messages.record_batches",
    "dissectors.kafka.messages.control",
    "dissectors.kafka.messages.records",
    "dissectors.kafka.messages.explain",
    "dissectors.kafka.messages.sasl",
    # frames -> walk -> exchanges
    "dissectors.kafka.framing",
    "dissectors.kafka.framing.state_columns",
    "dissectors.kafka.framing.state",
    "dissectors.kafka.framing.ids",
    "dissectors.kafka.framing.stream_bytes",
    "dissectors.kafka.framing.accounting",
    "dissectors.kafka.framing.pages",
    "dissectors.kafka.framing.produce_header",
    "dissectors.kafka.framing.headers",
    "dissectors.kafka.framing.other_protocols",
    "dissectors.kafka.framing.in_flight",
    "dissectors.kafka.framing.frame_rows",
    "dissectors.kafka.framing.provisional_frames",
    "dissectors.kafka.framing.provisional_proof",
    "dissectors.kafka.framing.provisional_replies",
    "dissectors.kafka.framing.pairing",
    "dissectors.kafka.framing.tokens",
    "dissectors.kafka.framing.direction",
    "dissectors.kafka.framing.sync",
    "dissectors.kafka.framing.frames",
    "dissectors.kafka.framing.loss",
    "dissectors.kafka.framing.connections",
    "dissectors.kafka.framing.checkpoint",
    "dissectors.kafka.framing.framing",
    "dissectors.kafka.columns",
    "dissectors.kafka.columns.operations",
    "dissectors.kafka.columns.role_columns",
    "dissectors.kafka.columns.program",
    "dissectors.kafka.columns.walk_limits",
    "dissectors.kafka.columns.walk_state",
    "dissectors.kafka.columns.walk_bytes",
    "dissectors.kafka.columns.walk_values",
    "dissectors.kafka.columns.walk_text",
    "dissectors.kafka.columns.walk_rows",
    "dissectors.kafka.columns.walk_tags",
    "dissectors.kafka.columns.walk_program",
    "dissectors.kafka.columns.walk_message",
    "dissectors.kafka.columns.walk",
    "dissectors.kafka.columns.exchange_columns",
    "dissectors.kafka.columns.exchange_state",
    "dissectors.kafka.columns.exchange_waits",
    "dissectors.kafka.columns.exchange_rows",
    "dissectors.kafka.columns.row_tools",
    "dissectors.kafka.columns.exchanges",
    "dissectors.kafka.columns.wait_kind_rules",
    "dissectors.kafka.columns.wait_kinds",
    "dissectors.kafka.columns.frame_picker_limits",
    "dissectors.kafka.columns.frame_picker",
    "dissectors.kafka.columns.field_operations",
    "dissectors.kafka.columns.field_program",
    "dissectors.kafka.columns.field_reader",
    "dissectors.kafka.columns.batch_format",
    "dissectors.kafka.columns.batch_headers",
    # files, tables, people
    "analyzer.version",
    "analyzer.base",
    "analyzer.base.text",
    "analyzer.base.filters",
    "analyzer.base.options",
    "analyzer.base.workers",
    "analyzer.base.tables",
    "analyzer.base.expected_errors",
    "analyzer.base.wait_kinds",
    "analyzer.base.settings",
    "analyzer.base.link_names",
    "analyzer.base.storage",
    "analyzer.base.storage.environment",
    "analyzer.base.storage.addresses",
    "analyzer.base.storage.error_texts",
    "analyzer.base.storage.filesystems",
    "analyzer.base.storage.objects",
    "analyzer.base.storage.reader",
    "analyzer.inputs",
    "analyzer.inputs.unpack",
    "analyzer.inputs.sources",
    "analyzer.inputs.expansion",
    "analyzer.inputs.readings",
    "analyzer.inputs.capture_heads",
    "analyzer.inputs.engine",
    "analyzer.ingest",
    "analyzer.ingest.raw_tables",
    "analyzer.ingest.arrow_tables",
    "analyzer.ingest.raw_writer",
    "analyzer.ingest.tls_facts",
    "analyzer.ingest.facts",
    "analyzer.ingest.facts.fact_tables",
    "analyzer.ingest.facts.fact_kinds",
    "analyzer.ingest.facts.clusters",
    "analyzer.ingest.facts.groups",
    "analyzer.ingest.facts.heartbeats",
    "analyzer.ingest.facts.transactions",
    "analyzer.ingest.facts.logins",
    "analyzer.ingest.facts.collect",
    "analyzer.ingest.facts.batches",
    "analyzer.ingest.checkpoints",
    "analyzer.ingest.summary",
    "analyzer.ingest.pipeline",
    "analyzer.ingest.run_tables",
    "analyzer.query",
    "analyzer.query.metrics",
    "analyzer.query.catalog",
    "analyzer.query.table_views",
    "analyzer.query.dataset",
    "analyzer.query.table_directories",
    "analyzer.query.exported",
    "analyzer.query.resolve",
    "analyzer.query.findings",
    "analyzer.query.run_findings",
    "analyzer.query.export",
    "analyzer.distributed",
    "analyzer.distributed.plan",
    "analyzer.distributed.plan_repair",
    "analyzer.distributed.fragments",
    "analyzer.distributed.resolved_spans",
    "analyzer.distributed.pending_segments",
    "analyzer.distributed.complete_connections",
    "analyzer.distributed.raw_row_filter",
    "analyzer.distributed.resolver",
    "analyzer.distributed.stitch",
    "analyzer.distributed.tasks",
    "analyzer.distributed.pool",
    "analyzer.run",
    "analyzer.run.raw_views",
    "analyzer.run.warnings",
    "analyzer.run.local",
    "analyzer.spark.session",
    "analyzer.spark.rows",
    "analyzer.spark.stages",
    "analyzer.spark.dataflow",
    "analyzer.spark.views",
    "analyzer.spark.job",
    "analyzer.spark.sink",
    "analyzer.spark",
    "analyzer.compare",
    "analyzer.compare.significance",
    "analyzer.compare.captures",
    "analyzer.compare.checks",
    "analyzer.report",
    "analyzer.report.format",
    "analyzer.report.text_tables",
    "analyzer.report.dimension_columns",
    "analyzer.report.latency_components",
    "analyzer.report.cluster_column",
    "analyzer.report.facts",
    "analyzer.report.sentences",
    "analyzer.report.finding_rows",
    "analyzer.report.comparison",
    "analyzer.report.json_report",
    "analyzer.report.tls",
    "analyzer.report.sections",
    "analyzer.report.sections.errors",
    "analyzer.report.sections.attention",
    "analyzer.report.sections.*",
    "analyzer.report.terminal",
    "analyzer.messages",
    "analyzer.messages.render",
    "analyzer.messages.tree",
    "analyzer.messages.bodies",
    "analyzer.messages.exchange_text",
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
    "analyzer.cli.row_output",
    "analyzer.cli.sections",
    "analyzer.cli.verb_parts",
    "analyzer.cli.schemas",
    "analyzer.cli.bodies",
    "analyzer.cli.commands",
    "analyzer.cli.commands.*",
    "analyzer.cli.main",
)

# Packages from left to right: each imports only those before it. A module belongs to the longest name that begins its own;
# what stands at the top of `analyzer` is a package by itself.
PACKAGES = (
    "dissectors",
    "dissectors.formats",
    "dissectors.packet",
    "dissectors.tcp",
    "dissectors.tls",
    "dissectors.kafka",
    "dissectors.kafka.schema",
    "dissectors.kafka.messages",
    "dissectors.kafka.framing",
    "dissectors.kafka.columns",
    "analyzer.version",
    "analyzer.base",
    "analyzer.inputs",
    "analyzer.ingest",
    "analyzer.query",
    "analyzer.distributed",
    "analyzer.run",
    "analyzer.spark",
    "analyzer.compare",
    "analyzer.report",
    "analyzer.messages",
    "analyzer.api",
    "analyzer",
    "analyzer.cli",
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


def package(name: str) -> str:
    """The package that a module belongs to: the longest name of PACKAGES that its own begins with."""
    return max((each for each in PACKAGES if f"{name}.".startswith(f"{each}.")), key=len)


def packages_to_the_right(name: str, targets: Iterable[str]) -> list[str]:
    """Those of `targets` whose package stands to the right of the package of module `name`."""
    mine = PACKAGES.index(package(name))
    return [other for other in targets if other in MODULES and PACKAGES.index(package(other)) > mine]


@pytest.mark.parametrize("name", MODULES)
def test_packages_import_only_packages_before_them(name: str) -> None:
    assert not packages_to_the_right(name, (other for other, _ in imports(name)))


def test_every_package_is_in_the_line() -> None:
    """Each directory with modules below `dissectors`, `analyzer` and `dissectors.kafka` stands in PACKAGES."""
    folders = {name for name, path in MODULES.items() if path.name == "__init__.py" and name.count(".") == 1}
    folders |= {name for name, path in MODULES.items() if path.name == "__init__.py" and ".kafka." in name}
    assert folders <= set(PACKAGES)
    assert all(name in MODULES for name in PACKAGES)


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
    assert "analyzer.run.local" in inside_functions and "analyzer.query.dataset" in inside_functions
    assert "analyzer.query.dataset" not in {other for other, _ in imports("analyzer.cli.common", with_types=False)}
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

"""The table of readers in docs/guides/lake.md: `python tools/parquet_readers [READER]...` prints it.

Makes a dataset to which two samples were added, and reads all files of every table, sums too, with each reader in an environment
of its own, in a temporary directory. Count of rows, values that are not null and the exact sum of integers of each column are held
against what pyarrow reads file by file. Readers come from PyPI, npm, Go's proxy, crates.io and Maven Central, in
these versions.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SAMPLES = HERE.parent.parent / "samples"
CAPTURES = ("groups_classic.pcap.zst", "throttle.pcap.zst")
KANALYZE = Path(sys.executable).with_name("kanalyze")
SECONDS = 600


class Reader(NamedTuple):
    """`packages`: what is installed, its own first. `how`: what a person writes. `kind`: python, node, go, rust or java; of Java
    `script` is the class that reads."""

    name: str
    packages: tuple[str, ...]
    how: str
    kind: str = "python"
    script: str = "ReadTables"


READERS = {
    "pyarrow": Reader("pyarrow", ("pyarrow==26.0.1",), "`pyarrow.dataset.dataset(FILES)`"),
    "polars": Reader("Polars", ("polars==2.1.0", "pyarrow"), "`scan_parquet(FILES)`"),
    "duckdb": Reader("DuckDB", ("duckdb==2.0.1",), "`read_parquet(FILES)`"),
    "duckdb_old": Reader("DuckDB", ("duckdb==1.1.3",), "`read_parquet(FILES)`"),
    "datafusion": Reader("DataFusion", ("datafusion==55.0.0", "pyarrow"), "each file, concatenated"),
    "daft": Reader("Daft", ("daft==0.7.26", "pyarrow"), "`read_parquet(FILES)`"),
    "pyiceberg": Reader(
        "pyiceberg", ("pyiceberg[sql-sqlite]==0.12.0", "pyarrow"), "`add_files(FILES)`, `scan().to_arrow()`"
    ),
    "deltalake": Reader("delta-rs", ("deltalake==1.6.6", "pyarrow"), "`convert_to_deltalake(DIR)`, `QueryBuilder()`"),
    "chdb": Reader("ClickHouse (chDB)", ("chdb==4.4.0",), "`file('/{A,B}', 'Parquet')`"),
    "pyspark": Reader("Spark", ("pyspark==4.3.0",), "`spark.read.parquet(*FILES)`"),
    "pandas_of_arrow": Reader(
        "pandas", ("pandas==3.1.1", "pyarrow"), '`read_parquet(FILE, dtype_backend="pyarrow")`, concatenated'
    ),
    "pandas": Reader("pandas", ("pandas==3.1.1", "pyarrow"), "`read_parquet(FILE)`, concatenated"),
    "fastparquet": Reader("fastparquet", ("fastparquet==2026.9.0",), "`ParquetFile(FILE).to_pandas()`, concatenated"),
    "hyparquet": Reader(
        "hyparquet (JavaScript)", ("hyparquet@1.33.0", "hyparquet-compressors@1.1.2"), "`parquetReadObjects`", "node"
    ),
    "parquet_java": Reader(
        "parquet-java",
        ("org.apache.parquet:parquet-hadoop:1.18.1", "org.apache.hadoop:hadoop-client-runtime:3.4.2"),
        "`ColumnReader`",
        "java",
    ),
    "trino": Reader(
        "Trino",
        ("io.trino:trino-parquet:483", "io.trino:trino-spi:483"),
        "its `ParquetReader`, as its connectors for lakes use it",
        "java",
        "ReadTablesByTrino",
    ),
    "parquet_go": Reader("parquet-go (Go)", ("github.com/parquet-go/parquet-go@v0.32.0",), "`ColumnChunks()`", "go"),
    "parquet_rs": Reader("parquet (Rust)", ("parquet@60.1.0",), "`get_row_iter()`", "rust"),
}

Answers = dict[str, dict[str, list[Any]]]


def main(names: list[str]) -> None:
    """Prints a row for each reader as soon as it is known."""
    sys.path.insert(0, str(HERE))
    from read_tables import pyarrow

    with tempfile.TemporaryDirectory() as folder:
        files = made(Path(folder) / "lake")
        wanted = {table: added([pyarrow([path]) for path in paths]) for table, paths in files.items()}
        print("| reader | version | tables and sums | how |\n|---|---|---|---|")
        for name in names or READERS:
            reader = READERS[name]
            place = Path(folder) / name
            place.mkdir()
            try:
                told = judged(wanted, answers(name, reader, place, json.dumps(files)))
            except subprocess.CalledProcessError as error:
                lines = (error.stderr or error.stdout or "no word").strip().splitlines()
                told = f"fails: {lines[-1][:120]}"
            version = re.split("[=@:]", reader.packages[0])[-1].removeprefix("v")
            print(f"| {reader.name} | {version} | {told} | {reader.how} |", flush=True)


def made(lake: Path) -> dict[str, list[str]]:
    """Table -> files of a dataset to which samples were added one after the other."""
    for capture in CAPTURES:
        run([str(KANALYZE), "export", str(SAMPLES / capture), "--add", "--to", str(lake)])
    files: dict[str, list[str]] = {}
    for path in sorted(lake.rglob("*.parquet")):
        if not path.relative_to(lake).parts[0].startswith("_"):
            files.setdefault(path.relative_to(lake).parts[0], []).append(str(path))
    return files


def added(answers_of_files: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """The answers of single files as one."""
    whole: dict[str, list[Any]] = {}
    for answer in answers_of_files:
        for column, (rows, known, total) in answer.items():
            before = whole.setdefault(column, [0, 0, None])
            before[:2] = [before[0] + rows, before[1] + known]
            before[2] = total if before[2] is None else before[2] + total
    return whole


def answers(name: str, reader: Reader, place: Path, files: str) -> Answers:
    """What a reader says of these files, installed in the directory `place`."""
    if reader.kind in _INSTALLED:
        return answered(_INSTALLED[reader.kind](reader, place), place, files)
    run([sys.executable, "-m", "venv", str(place)])
    run([str(place / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", *reader.packages])
    reads = name.removesuffix("_old")
    return answered([str(place / "bin/python"), str(HERE / "read_tables.py"), reads], place, files)


def _node(reader: Reader, place: Path) -> list[str]:
    _take("read_tables.mjs", place / "read_tables.mjs")
    run(["npm", "install", "--silent", *reader.packages], place)
    return ["node", "read_tables.mjs"]


def _go(reader: Reader, place: Path) -> list[str]:
    _take("read_tables.go", place / "main.go")
    for words in (["mod", "init", "read_tables"], ["get", *reader.packages], ["build", "-o", "read_tables"]):
        run(["go", *words], place)
    return ["./read_tables"]


def _rust(reader: Reader, place: Path) -> list[str]:
    run(["cargo", "init", "--quiet", "--vcs", "none", "--name", "read_tables"], place)
    run(["cargo", "add", "--quiet", "--no-default-features", "--features", "zstd", *reader.packages], place)
    run(["cargo", "add", "--quiet", "serde_json@1"], place)
    _take("read_tables.rs", place / "src" / "main.rs")
    run(["cargo", "build", "--quiet", "--release"], place)
    return ["target/release/read_tables"]


def _java(reader: Reader, place: Path) -> list[str]:
    """Of Maven's project there are only the libraries. Trino wants Java 25 (JAVA_HOME), and its vectors."""
    wanted = "".join(
        "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>".format(
            *package.split(":")
        )
        for package in reader.packages
    )
    (place / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>kanalyze</groupId><artifactId>readers</artifactId>"
        f"<version>1</version><dependencies>{wanted}</dependencies></project>"
    )
    run(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], place)
    sources = [f"{reader.script}.java", "Told.java"]
    for source in sources:
        _take(source, place / source)
    home = Path(os.environ.get("JAVA_HOME", "/usr"), "bin")
    run([str(home / "javac"), "-cp", "lib/*", *sources], place)
    return [str(home / "java"), "--add-modules", "jdk.incubator.vector", "-cp", "lib/*:.", reader.script]


def _take(script: str, to: Path) -> None:
    to.write_text((HERE / script).read_text())


# Kind of reader -> what installs it and answers its command.
_INSTALLED = {"node": _node, "go": _go, "rust": _rust, "java": _java}


def answered(command: list[str], place: Path, files: str) -> Answers:
    found: Answers = json.loads(run(command, place, files).strip().splitlines()[-1])
    return found


def judged(wanted: Answers, found: Answers) -> str:
    """equal, or in how many columns what differs, with one of them."""
    differences = []
    for table, columns in wanted.items():
        for column, (rows, known, total) in columns.items():
            got = found.get(table, {}).get(column)
            if got is None or got[:2] != [rows, known] or (total is not None and (got[2] or 0) != total):
                differences.append(f"`{table}.{column}`")
    if not differences:
        return f"equal: {len(wanted)} tables, {sum(map(len, wanted.values()))} columns"
    return f"**not equal** in {len(differences)} of {sum(map(len, wanted.values()))} columns, {differences[0]} first"


def run(command: list[str], place: Path | None = None, stdin: str | None = None) -> str:
    done = subprocess.run(command, cwd=place, input=stdin, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1:])

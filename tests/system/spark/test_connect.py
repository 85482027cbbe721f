"""`kanalyze spark --master sc://...`: a Connect server on this machine writes the dataset of a run here."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from environment import PYTHON, python
from jobs import LONG, rows, unlike, unpacked

from analyzer.base.options import Options
from analyzer.run.local import open_dataset

pytestmark = LONG
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
STARTS_SECONDS = 120
RUNS_SECONDS = 600
KANALYZE = "from analyzer.cli.main import run; run()"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with two cores."""
    program = python()
    if not list(PYTHON.parent.parent.glob("lib/*/site-packages/pyspark/jars/spark-connect_*.jar")):
        pytest.skip("this release of PySpark brings no Connect server")
    folder = tmp_path_factory.mktemp("connect")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": 2,
        "spark.ui.enabled": "false",
    }
    confs = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(
            [str(PYTHON.with_name("spark-submit")), "--class", SERVER, "--master", "local[2]", *confs],
            cwd=folder,
            env={**os.environ, "PYSPARK_PYTHON": program, "SPARK_LOCAL_DIRS": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        wait_for(port, running)
        yield f"sc://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(STARTS_SECONDS)


def wait_for(port: int, running: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTS_SECONDS
    while time.monotonic() < until and running.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    pytest.fail("no Connect server")


def test_the_rows_are_those_of_a_run_here(server: str, samples: Path, tmp_path: Path) -> None:
    """Of a capture that is cut in parts, and of one that is damaged."""
    whole, damaged = (unpacked(samples / f"{name}.pcap.zst", tmp_path) for name in ("throttle", "transactions"))
    damaged.write_bytes(damaged.read_bytes()[:150_000] + b"\xff" * 5_000)
    captures, out = [str(whole), str(damaged)], str(tmp_path / "out")
    line = [python(), "-c", KANALYZE, "spark", *captures, "--master", server, "--task-size", "300k", "--out", out]
    done = subprocess.run(line, capture_output=True, text=True, timeout=RUNS_SECONDS, cwd=tmp_path)
    assert done.returncode == 2 and "transactions.pcap" in done.stderr, done.stderr[-4_000:]
    with open_dataset([out], Options()) as written, open_dataset(captures, Options()) as made:
        assert unlike(written, made) == {}
        assert all(rows(made, table) for table in ("exchanges", "problems"))

"""gs:// addresses: captures and tables in a server that speaks Google's protocol, the same rows as from local files."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.base.storage.addresses import parse_address
from analyzer.base.storage.objects import object_writer
from analyzer.base.tables import TABLES
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import InputError
from analyzer.query.dataset import Dataset
from analyzer.query.export_tables import export
from analyzer.query.exported import open_dataset
from analyzer.run import local

SAMPLE = SAMPLES / "throttle.pcap.zst"
START_SECONDS = 20.0


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty bucket, on a server of this test alone."""
    program = Path(sys.executable).with_name("gcp-storage-emulator")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program, "start", "--host=127.0.0.1", f"--port={port}", "--in-memory", "--default-bucket=captures"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + START_SECONDS
            while not _answers(port):
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < until, "the server does not answer"
                time.sleep(0.05)
            for name in list(os.environ):
                if name.startswith(("AWS_", "GOOGLE_", "AZURE_")):
                    monkeypatch.delenv(name)
            monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
            yield "gs://captures"
        finally:
            server.kill()


def _answers(port: int) -> bool:
    with suppress(OSError):
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/storage/v1/b/captures")
        return connection.getresponse().status == 200
    return False


def put(uri: str, content: bytes) -> None:
    with object_writer(parse_address(uri)) as stream:
        stream.write(content)


def rows(dataset: Dataset) -> dict[str, list[str]]:
    with dataset:
        return {
            table: sorted(map(repr, dataset.query(f"SELECT * FROM {table}"))) for table in TABLES if table != "captures"
        }


def test_captures_in_google_storage_give_the_rows_of_local_ones(bucket: str) -> None:
    expected = rows(local.open_dataset([str(SAMPLE)], Options()))
    put(f"{bucket}/packed/throttle.pcap.zst", SAMPLE.read_bytes())
    put(f"{bucket}/plain/throttle.pcap", b"".join(expand([str(SAMPLE)]).sources[0].blocks()))
    for place in ("packed/throttle.pcap.zst", "packed", "plain/*.pcap"):
        assert rows(local.open_dataset([f"{bucket}/{place}"], Options())) == expected, place


def test_tables_in_google_storage_are_read_without_the_capture(bucket: str, tmp_path: Path) -> None:
    with local.open_dataset([str(SAMPLE)], Options()) as dataset:
        export(dataset, tmp_path / "set", "parquet")
        export(dataset, f"{bucket}/set", "parquet")
    assert rows(open_dataset(f"{bucket}/set")) == rows(open_dataset(str(tmp_path / "set")))


@pytest.mark.parametrize(
    ("place", "told"), [("/none.pcap", "no such object"), ("-not-there/x.pcap", "no such bucket at http://127.0.0.1")]
)
def test_what_is_not_there_is_told_in_a_line(bucket: str, place: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        local.open_dataset([f"{bucket}{place}"], Options())

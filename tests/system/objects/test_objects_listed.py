"""Names, listings and addresses of object storage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from analyzer.base.storage import filesystems
from analyzer.base.storage.addresses import parse_address
from analyzer.base.storage.error_texts import reason
from analyzer.base.storage.filesystems import client
from analyzer.base.storage.objects import StorageEntry, list_folder
from analyzer.inputs import expansion
from analyzer.inputs.expansion import expand
from notebooks.s3_server import Server

# What breaks something, and the address that is asked then.
Make = Callable[[Server, Callable[[str, str], None]], str]
# Of no compression, longer than three ranges and not a multiple of anything.
LONG = b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(12) + b"\x01\0\0\0" + Random(9092).randbytes(20_000_001)


def test_names_of_objects_are_safe_to_show(server: Server, bucket: Path) -> None:
    del server
    (bucket / "x\x1b[31m.pcap").write_text("no capture")
    (error,) = expand(["s3://bucket/x*.pcap"]).errors
    from analyzer.base.text import printable

    assert "\x1b" not in printable(str(error))


def test_listings_of_several_pages(server: Server, bucket: Path) -> None:
    del server
    for number in range(2_500):
        (bucket / f"n{number}").touch()
    (bucket / "x.pcap").write_bytes(LONG[:100])
    assert [source.name for source in expand(["s3://bucket/*.pcap"]).sources] == ["s3://bucket/x.pcap"]
    assert len(list_folder(parse_address("s3://bucket"))) == 2_501


def test_a_hundred_thousand_names(server: Server, bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """rclone reads its directory again for each page of a listing, so this one is not asked of it."""
    del server
    (bucket / "x1.pcap").write_bytes(LONG[:100])
    at = parse_address("s3://bucket")
    names = [StorageEntry(at._replace(key=f"x{number}.pcap"), False, 100) for number in range(100_000)]
    monkeypatch.setattr(expansion, "list_folder", lambda *_, **__: names)
    found = expand(["s3://bucket/x?.pcap"])
    assert [source.name for source in found.sources] == ["s3://bucket/x1.pcap"] and len(found.errors) == 9


def test_other_storage_can_be_named() -> None:
    """No server of theirs is here: that filesystems are made from the addresses is all that is shown."""
    for uri, path in {
        "gs://bucket/a b/x?.pcap": "bucket/a b/x?.pcap",
        "abfss://container@account.dfs.core.windows.net/d/x.pcap": "container/d/x.pcap",
    }.items():
        at = parse_address(uri)
        assert (at.uri, at.path) == (uri, path)
        with client(at) as filesystem:
            assert filesystem.type_name in ("gcs", "abfs")


def test_errors_of_other_storage_are_worded() -> None:
    """As pyarrow 26 gave them here, without a network."""
    azure = parse_address("abfss://c@account.dfs.core.windows.net/404/403.pcap")
    google = parse_address("gs://bucket/NO_SUCH_BUCKET")
    for at, said, words in (
        (
            azure,
            "Unknown error: ... failed: Failed to get token from DefaultAzureCredential.\nSee ...",
            "AZURE_STORAGE_KEY",
        ),
        (
            google,
            "google::cloud::Status(UNAVAILABLE: Could not create a OAuth2 access token to ...",
            "GOOGLE_APPLICATION",
        ),
        (azure, "Unknown error of '404/403.pcap'\nSee ...", "account.dfs.core.windows.net says: Unknown error of "),
        (google, "'NO_SUCH_BUCKET': Status(UNAVAILABLE)", "no answer from Google Cloud Storage"),
    ):
        text, _ = reason(at, OSError(said), filesystems.ATTEMPTS)
        assert words in text and "\n" not in text

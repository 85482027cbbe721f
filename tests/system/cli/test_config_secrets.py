"""Secret values of settings are in no output but that of `decode`: a made capture, each verb, each format, the Python API.

Every API with settings, every version: values with a secret name, values that only a mark tells, those of synonyms, what a
broker repeats in an error text, what it adds in fields that nobody knows. Values that are no secrets stand beside them and
must be seen, so that hiding everything would fail.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
from click.testing import CliRunner
from effort import LONG, one_in
from encode import encode
from kept_datasets import KeptDatasets
from made_capture import Conversation, merged, pcap

import analyzer
from analyzer.base.tables import TABLES
from analyzer.cli.main import cli, verbs
from dissectors.kafka.schema import lookup, roles

MARKER, SEEN = "hunter2Marker", "seen-all-right"
SECRET_NAMES = (
    "ssl.keystore.password",
    "confluent.LICENSE",
    "listener.name.x.plain.sasl.jaas.config",
    "ssl.keystore.key",
    "my.secret",
    "bearer.token",
    "aws.credentials",
    "ssl.passphrase",
    "db.pwd",
    "basic.auth.user.info",
)
REPEATED = (f"Invalid value {MARKER}", f"no such key: {MARKER[::-1]}{MARKER}")


def settings(version_fields: set[str], named: str) -> list[dict[str, Any]]:
    """Elements of an array of settings as far as the version has the fields."""
    told = [{named: name, "value": f"{MARKER}-{name}"} for name in SECRET_NAMES]
    told.append({named: "retention.ms", "value": SEEN})
    if "is_sensitive" in version_fields:
        synonym = {"name": "old.name", "value": MARKER, "source": 4}
        told.append({named: "innocent", "value": MARKER, "is_sensitive": True, "synonyms": [synonym]})
        told.append({named: "plain", "value": SEEN, "synonyms": [{**synonym, "value": SEEN}]})
        told.append({named: "plain", "value": SEEN, "synonyms": [{**synonym, "name": "a.password"}]})
        if "config_type" in version_fields:
            told.append({named: "typed", "value": MARKER, "config_type": 9})
    return [{name: value for name, value in each.items() if name in version_fields} for each in told]


def filled(fields: tuple[lookup.Field, ...], version: int, flexible: bool) -> dict[str, Any]:
    """A body in which each array has an element, each array of settings all of them."""
    body: dict[str, Any] = {}
    for field in fields:
        if version not in field.versions:
            continue
        below = {each.name for each in field.fields if version in each.versions}
        named = "name" if "name" in below else "key"
        if field.is_array and field.fields and "value" in below and named in below:
            body[field.name] = settings(below, named)
            if flexible:
                for each in body[field.name][:-1]:
                    if MARKER in each["value"]:
                        each["unknown_tags"] = {77: MARKER.encode()}
        elif field.is_array and field.fields:
            body[field.name] = [filled(field.fields, version, flexible)]
        elif field.type == "struct":
            body[field.name] = filled(field.fields, version, flexible)
        elif field.name in ("error_message", "status_detail"):
            body[field.name] = REPEATED[version % 2]
        elif field.type == "string" and not field.is_array and field.nullable is None:
            body[field.name] = field.name
    return body


def conversations() -> list[Conversation]:
    conversations = []
    for number, key in enumerate((19, 32, 33, 44, 88, 89)):
        api = lookup.api(key)
        assert api is not None
        conversation = Conversation(port=41_000 + number).shake()
        for version in range(api.versions.first, api.versions.last + 1):
            flexible = api.is_flexible(version)
            header = {"correlation_id": version, "client_id": "made"}
            bodies = [filled(api.message(side).fields, version, flexible) for side in ("request", "response")]
            conversation.exchange(
                encode(key, version, "request", header, bodies[0]), encode(key, version, "response", header, bodies[1])
            )
            if key == 33:  # nothing secret in it: its error is told
                plain = {"resources": [{"resource_name": "t", "configs": [{"name": "retention.ms", "value": "x"}]}]}
                answer = {"responses": [{"error_code": 40, "error_message": "told all the same", "resource_name": "t"}]}
                header = {"correlation_id": 50 + version, "client_id": "made"}
                conversation.exchange(
                    encode(key, version, "request", header, plain), encode(key, version, "response", header, answer)
                )
        conversations.append(conversation.close())
    return [*conversations, cut_before_its_mark()]


def cut_before_its_mark() -> Conversation:
    """A reply of which only the value was captured, not whether that is sensitive."""
    conversation = Conversation(port=42_000).shake()
    header = {"correlation_id": 7, "client_id": "made"}
    asked = encode(32, 2, "request", header, {"resources": [{"resource_name": "1", "configuration_keys": None}]})
    configs = [{"name": "innocent", "value": MARKER, "is_sensitive": True}]
    answer = encode(32, 2, "response", header, {"results": [{"resource_name": "1", "configs": configs}]})
    conversation.exchange(asked, answer)
    time, packet = conversation.packets[-1]
    conversation.packets[-1] = time, packet[: packet.index(MARKER.encode()) + len(MARKER)]
    return conversation


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "settings.pcap"
    path.write_bytes(_pcap(merged(conversations())))
    return path


@pytest.fixture(scope="module")
def kept() -> Iterator[KeptDatasets]:
    with KeptDatasets() as datasets:
        yield datasets


def _pcap(packets: list[tuple[int, bytes]]) -> bytes:
    """As `pcap`, but a packet whose IP length says more was cut when it was captured."""
    out = bytearray(pcap([]))
    for time, data in packets:
        length = 14 + int.from_bytes(data[16:18], "big")
        words = (time // 1_000_000, time % 1_000_000, len(data), length)
        out += b"".join(word.to_bytes(4, "little") for word in words) + data
    return bytes(out)


def spellings(text: str) -> Iterator[bytes]:
    data = text.encode()
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + data).rstrip(b"=")
        yield encoded[4 if shift else 0 : -1]
    yield from (data, data.hex().encode(), data.hex().upper().encode())


def hidden(text: bytes) -> bool:
    return not any(form in text for form in spellings(MARKER))


def run(*arguments: str | Path) -> bytes:
    done = CliRunner().invoke(cli, [str(each) for each in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), (arguments, done.exception)
    return done.output.encode()


def calls(verb: str, capture: Path, exchanges: list[str]) -> Iterator[tuple[str | Path, ...]]:
    """A verb over the capture as a table and in one form for programs, which share the rows and take turns; each exchange in one of
    them. With KANALYZE_LONG all in all."""
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    forms = next((each.type.choices for each in command.params if each.name == "form"), [None])  # type: ignore[attr-defined]
    if not LONG and len(forms) > 2:
        forms = [forms[0], forms[1 + verbs().index(verb) % (len(forms) - 1)]]
    every = one_in(len(forms))
    for number, form in enumerate(forms):
        more = () if form is None else ("--format", form)
        if verb == "show":
            yield from ((verb, capture, each, *more) for each in exchanges[number % every :: every])
        elif verb == "partition":
            yield (verb, capture, "orders-0", *more)
        elif verb == "diff":
            yield (verb, capture, capture, *more)
        elif verb == "sql":
            # All tables in one answer: each start of a database for it takes as long as ten questions.
            rows = " union all ".join(f"select t::varchar as row from {table} as t" for table in TABLES)
            yield (verb, capture, rows, *more)
        elif verb == "dump":
            yield from ((verb, capture), (verb, capture, "--records"))
        elif verb == "check":
            yield (verb, capture, "--max-errors", "0", *more)
        else:
            yield (verb, capture, *more)


# `export` has a test of its own, `spark` writes the same tables, `decode` and `schema` read no capture, `watch` shows what `report`
# shows.
def exchanges_in(capture: Path) -> list[str]:
    lines = run("exchanges", capture, "--format", "jsonl").splitlines()
    return [json.loads(line)["exchange"] for line in lines if line.startswith(b"{")]


@pytest.mark.parametrize("verb", sorted({*verbs()} - {"export", "extract", "spark", "decode", "schema", "watch"}))
def test_no_verb_shows_a_secret(verb: str, capture: Path, kept: KeptDatasets) -> None:
    with kept.used():
        said = [run(*call) for call in calls(verb, capture, exchanges_in(capture) if verb == "show" else [])]
    assert any(said)
    assert [text for text in said if not hidden(text)] == []


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_no_export_holds_a_secret(form: str, capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "tables"
    assert hidden(run("export", capture, "--to", out, "--format", form))
    if form == "parquet":
        with analyzer.read(out) as read:
            texts = [str(getattr(read, name).to_pylist()).encode() for name in TABLES]
    else:
        texts = [path.read_bytes() for path in out.iterdir()]
    assert sum(map(len, texts)) > 10_000 and all(map(hidden, texts))


def test_no_duckdb_file_holds_a_secret(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.duckdb"
    assert hidden(run("export", capture, "--to", out))
    with duckdb.connect(str(out), read_only=True) as file:
        names = file.sql("SELECT schema_name || '.' || table_name FROM duckdb_tables()").fetchall()
        texts = [str(file.sql(f"SELECT * FROM {name}").fetchall()).encode() for (name,) in names]
    assert len(texts) > 50 and sum(map(len, texts)) > 10_000 and all(map(hidden, texts))


def test_the_python_api_shows_no_secret(capture: Path) -> None:
    with analyzer.read(capture) as read:
        exchanges = read.exchanges.to_pylist()
        shown = [str(read.show(each["exchange"], records=True)) for each in exchanges]
        shown += [read.show(each["exchange"])._repr_html_() for each in exchanges]
        shown += [str(read.report()), read.report()._repr_html_(), str(read.findings)]
        shown += [each._repr_html_() for each in (*read.findings, read.findings, read.exchanges, read.errors)]
    assert len(exchanges) == 26 and all(hidden(text.encode()) for text in shown)


def test_what_is_no_secret_is_seen(capture: Path) -> None:
    """Every message was read to its end, or nothing above would mean anything; and not everything is hidden."""
    rows = [json.loads(line) for line in run("dump", capture).splitlines() if line.startswith(b"{")]
    cut = [row for row in rows if row["response_decoded"] != "full" or row["request_decoded"] != "full"]
    assert len(cut) == 1 and len(rows) == 26
    for row in rows:
        api = lookup.api(row["api_key"])
        assert api is not None
        for side in ("request", "response"):
            present = [each for each in roles.walk(api.message(side)) if row["api_version"] in each[1].versions]
            carries = any(
                field.name == "value" and all(row["api_version"] in outer.versions for outer in around)
                for _, field, around in present
            )
            if carries and row not in cut and row["correlation_id"] < 50:
                assert SEEN in json.dumps(row[side]), (row["api_name"], row["api_version"], side)
    text = json.dumps(rows)
    assert text.count("secret_bytes") > 10 * len(rows)
    assert text.count("told all the same") == 3
    assert "old.name" in text


def test_decode_shows_what_its_user_typed() -> None:
    body = {"resources": [{"resource_name": "t", "configs": [{"name": "a.password", "value": MARKER}]}]}
    frame = encode(33, 1, "request", {"correlation_id": 1, "client_id": "made"}, body)
    line = json.dumps({"api_key": 33, "version": 1, "direction": "request", "hex": frame.hex()})
    assert MARKER in CliRunner().invoke(cli, ["decode"], input=line).output


def test_the_marker_is_in_the_packets(capture: Path) -> None:
    assert capture.read_bytes().count(MARKER.encode()) > 300

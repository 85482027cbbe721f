"""Names that clients choose can do nothing: to a terminal, to a spreadsheet, to who reads JSON line by line.

A capture is made in which every text field of ApiVersions, SASL, Metadata, Produce, FindCoordinator and JoinGroup holds
such a name; its file has one too. Every verb, in every format that it offers, prints it.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import pty
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import click
import pytest
import random_messages
from effort import one_in
from encode import encode
from kept_datasets import kept_datasets
from made_capture import Conversation, pcap
from paths import ROOT
from random_messages import Kind

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.cli.main import cli, main, verbs
from analyzer.run import local
from dissectors.kafka.schema import lookup

MARK = "hostile"
NAMES = (
    "\x1b]0;hostile title\x07", "\x1b[2J\x1b[31mhostile red", "\x9b31mhostile", "\x1bP hostile \x1b\\",
    "hostile\u202egnp.exe", "\u2066hostile\u2069\u200f\u061c", "\ufeffhostile", "hostile\u2028line\u2029paragraph",
    "hostile\r\nkanalyze: forged line", "hostile\tcell\x0b\x0c", "hostile\x00nul", "hostile\x08\x08\x08back\x7f",
    "=cmd|'/C hostile'!A0", "+hostile+1", "-hostile", "@SUM(hostile)", "\t=hostile", "\r=hostile", " =hostile",
    "\uff1dhostile", "<script>alert('hostile')</script>", "\"hostile\",\"two\"", "'; DROP TABLE hostile; --",
    "%s%n hostile {0} {name} [red]hostile[/red] [link=http://hostile]x[/link]", "hostile\\x1b[31m\\", "$(hostile) `hostile`",
    "hostile " * 40, "*", "INVALID!hostile",
)  # fmt: skip
NO_TEXT = (b"INVALID!", b"\xff\xfe\x80\xc0\xed\xa0\x80!")  # as many bytes that are no UTF-8
FILE_NAME = "=hostile\x1b[31m\u202e\n<b>.pcap"

KINDS = ((18, 3), (17, 1), (36, 2), (3, 12), (0, 8), (0, 9), (10, 4), (11, 7), (19, 7), (32, 4))
CONTROLS = ("Cc", "Zl", "Zp", "Cs")
BIDI = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


class _Maker(random_messages._Maker):
    """Full messages whose every text is the next hostile name; numbers small, so that replies mean something."""

    names: Iterator[str] = itertools.cycle(NAMES)

    def text(self) -> str:
        return next(self.names)

    def integer(self, bits: int, signed: bool) -> int:  # noqa: ARG002
        return self.chance.randint(0, 5)


def messages(kind: tuple[int, int], correlation: int) -> tuple[bytes, bytes]:
    """A request and its reply."""
    both = []
    for direction in ("request", "response"):
        whole = Kind(*kind, direction)
        api = lookup.api(kind[0])
        assert api is not None
        maker = _Maker(kind[1], api.is_flexible(kind[1]), Random(f"{whole} {correlation}"), full=True)
        header = {**maker.header(whole), "correlation_id": correlation}
        if direction == "request":
            header["client_id"] = maker.text()
        header.pop("unknown_tags", None)  # nobody sends them, and a guess in mid-stream would not believe them
        body = maker.struct(api.message(direction).fields)
        if "acks" in body:
            body["acks"] = 1  # of 0 the reply would be nobody's
        frame = encode(*whole, header, body)
        both.append(frame.replace(*NO_TEXT))
    return both[0], both[1]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each kind three times, so that all names get to most fields."""
    conversation, correlation = Conversation().shake(), 100
    for _ in range(3):
        for kind in KINDS:
            conversation.exchange(*messages(kind, correlation))
            correlation += 1
    conversation.frame(0, messages((3, 12), correlation)[0])  # one that stays without a reply
    path = tmp_path_factory.mktemp("hostile") / FILE_NAME
    path.write_bytes(pcap(conversation.packets))
    return path


@pytest.fixture(scope="module", autouse=True)
def _read_once() -> Iterator[None]:
    with kept_datasets():
        yield


# ---- every verb in every format ----


def commands() -> list[tuple[str, ...]]:
    """Words of all commands that take captures; `*` stands for the capture, `?` for an exchange, `NEW` for a new file,
    `TOPIC-N` for a partition.

    A verb in each of its formats, by `make test` in half of them, in turn: one function writes a format for all verbs.
    """
    found = []
    for number, verb in enumerate(verbs()):
        command = cli.get_command(click.Context(cli), verb)
        assert command is not None
        names = {parameter.name: parameter for parameter in command.params}
        formats = getattr(names["form"].type, "choices", ()) if "form" in names else (None,)
        formats = [form for form in formats if form != "parquet"]
        if not {"inputs", "before"} & names.keys():
            continue
        for form in formats[number % min(one_in(2), len(formats)) :: one_in(2)]:
            words = (*SPECIAL.get(verb, ((),)),)
            found += [(verb, *each, *(("--format", form) if form else ())) for each in words]
    tables = [table for table in TABLES if table != "exchanges"]
    return found + [("export", "*", "--table", table, "--format", "csv") for table in tables[:: one_in(2)]]


SPECIAL: dict[str, tuple[tuple[str, ...], ...]] = {
    "show": (("*", "?"),),
    "partition": (("*", "TOPIC-N"),),
    "sql": (("*", "select * from exchanges"),),
    "export": (("*", "--table", "exchanges"),),
    "diff": (("*", "*"),),
    "check": (("*", "--no-high"),),
    "extract": (("*", "--broker", "*.*", "--comment", "-o", "NEW"),),
    "html": (("*", "-o", "-"),),
    "trace": (("*", "-o", "NEW"),),
    "redact": (("*", "-o", "NEW"),),
    # The plan is what it tells without Spark.
    "spark": (("*", "--plan"),),
}


def a_partition(capture: Path) -> str:
    with local.open_dataset([str(capture)], Options(tables=None)) as found:
        (row,) = found.query("SELECT topic, partition FROM entries WHERE topic IS NOT NULL AND partition >= 0 LIMIT 1")
    return f"{row['topic']}-{row['partition']}"


def run(capture: Path, words: tuple[str, ...]) -> tuple[int, bytes, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    known = {"*": str(capture), "?": "#5", "NEW": str(capture.with_name("new.pcapng"))}
    if "TOPIC-N" in words:
        known["TOPIC-N"] = a_partition(capture)
    arguments = [known.get(word, word) for word in words]
    if "*" not in words:
        arguments.insert(1, str(capture))
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    out.flush()
    return code, out.buffer.getvalue(), err.getvalue()  # type: ignore[attr-defined]


def dangerous(text: str) -> set[str]:
    """Characters that a terminal or a reader of lines would act upon; the ends of lines are looked at by the caller."""
    return {
        repr(character)
        for character in text
        if unicodedata.category(character) in CONTROLS
        or unicodedata.bidirectional(character) in BIDI
        or character in "\u061c\u200e\u200f\ufeff"
    }


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_verb_in_every_format(capture: Path, words: tuple[str, ...]) -> None:
    code, out, said = run(capture, words)
    assert code in (0, 1), said
    assert not any(dangerous(line) for line in said.split("\n")), said
    form = words[words.index("--format") + 1] if "--format" in words else ""
    text = out.decode()
    if form == "csv":
        check_csv(text)
        return
    if words[0] == "html":
        assert "<script>alert" not in text
    bad = [line for line in text.split("\n") if dangerous(line)]
    assert not bad, (bad[0], dangerous(bad[0]))
    if form == "json":
        json.loads(text)
    elif form == "jsonl" or words[0] == "dump":
        for line in text.splitlines():
            json.loads(line)


def check_csv(text: str) -> None:
    """A cell that begins like a formula begins with something else first, unless it is a number."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len({len(row) for row in rows}) == 1
    for row in rows:
        for cell in row:
            assert not dangerous(cell), cell
            assert not cell.startswith(FORMULA) or is_number(cell), cell


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_the_names_are_there(capture: Path) -> None:
    """Else the test above would be about nothing."""
    _, out, _ = run(capture, ("exchanges", "--format", "jsonl"))
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 3 * len(KINDS) + 1
    assert {row["status"] for row in rows} == {"answered", "pending"}
    assert {row["response_decoded"] for row in rows if row["status"] == "answered"} == {"full"}
    clients = {row["client_id"] for row in rows}
    assert len(clients & set(NAMES)) > 15
    _, dumped, _ = run(capture, ("dump",))
    inside = json.dumps([json.loads(line) for line in dumped.splitlines()], ensure_ascii=False)
    for name in NAMES:
        if not name.startswith("INVALID"):
            assert json.dumps(name, ensure_ascii=False)[1:-1] in inside, name


def test_a_terminal_gets_no_sequence_of_theirs(capture: Path) -> None:
    """On a terminal there are colours, but only ours."""
    for verb in ("report", "clients", "exchanges", "connections", "errors", "show"):
        more = ["#5"] if verb == "show" else []
        shown = on_a_terminal([verb, str(capture), *more])
        assert MARK in shown or verb == "errors", verb
        for theirs in ("\x1b]0;", "\x1b[2J", "\x1b[31mhostile", "\x9b", "\x1bP", "\u202e", "\u2066", "\x07", "\x00"):
            assert theirs not in shown, (verb, theirs)


def on_a_terminal(arguments: list[str]) -> str:
    leader, follower = pty.openpty()
    program = "import sys; from analyzer.cli.main import main; sys.exit(main(sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "200", "LINES": "50"}
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=follower, stdout=follower, stderr=follower, env=environment
    ) as process:
        os.close(follower)
        shown = b"".join(iter(lambda: read(leader), b""))
        assert process.wait(60) == 0
    os.close(leader)
    return shown.decode("utf-8", "replace")


def read(descriptor: int) -> bytes:
    """What the other end of a terminal wrote; empty when it is gone."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


def test_filters_may_be_hostile_too(capture: Path) -> None:
    """They come from a person, but may be pasted from a report: values, never SQL, globs or options."""
    names = [name for name in NAMES if "\x00" not in name and name != "*"]  # no command line can hold a zero byte
    for option in ("--client", "--topic", "--broker", "--api"):
        code, out, said = run(capture, ("exchanges", "--format", "jsonl", *(f"{option}={name}" for name in names)))
        assert code == 0, said
        rows = [json.loads(line) for line in out.splitlines()]
        assert len(rows) < 3 * len(KINDS)
        assert bool(rows) == (option in ("--client", "--topic"))
    code, out, said = run(capture, ("exchanges", "--format", "jsonl", "--client='; DROP TABLE hostile; --"))
    assert code == 0, said
    assert {json.loads(line)["client_id"] for line in out.splitlines()} == {"'; DROP TABLE hostile; --"}

"""Manners of the command line: examples that run, help for all options, schemas that hold, completion, a pager for people."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click
import cramjam
import pytest
from kanalyze_process import COMMAND
from kept_datasets import KeptDatasets
from paths import ROOT, SAMPLES

from analyzer.cli.json_schemas import LINES, has_schema, schema
from analyzer.cli.main import QUESTIONS, cli, main, verbs
from analyzer.cli.verb_help import SELDOM, Verb, examples

CAPTURE = SAMPLES / "throttle.pcap.zst"


def verb(name: str) -> tuple[click.Command, click.Context]:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, Verb)
    return command, click.Context(command, click.Context(cli, info_name="kanalyze"), name)


def said(*words: str, codes: tuple[int, ...] = (0,)) -> str:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out):
        assert main(words) in codes
    out.flush()
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


@pytest.mark.parametrize("name", verbs())
def test_help_begins_with_examples_and_ends_with_where_the_rest_is(name: str) -> None:
    command, context = verb(name)
    text = command.get_help(context)
    assert text.index("Examples:") < text.index("Options:")
    assert len(examples(name)) >= 2
    whole = said(name, "--help-all")
    assert [line for line in whole.splitlines() if len(line) > 80] == []
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.opts[0] in whole
            assert (
                (parameter.opts[0] in re.findall(r"--[\w-]+", text))
                or parameter.name in SELDOM | {"strict"}
                or parameter.opts[0] in text
            )


def test_a_line_tells_what_each_verb_is_for() -> None:
    assert [line for line in said("--help").splitlines() if line.startswith("  ") and line.endswith("...")] == []


@pytest.mark.parametrize("name", verbs())
def test_examples_are_command_lines_that_the_verb_takes(name: str) -> None:
    command, _ = verb(name)
    for line in examples(name):
        line = line.removeprefix("source <(").removesuffix(")")
        words = shlex.split(line.rpartition("| kanalyze")[2] or line, comments=True)
        words = words[1:] if words[0] == "kanalyze" else words
        words = words[1:] if words and words[0] == name else words
        words = [word for word in words if word not in ("<", "|", "jq", ".")]
        words = words[: words.index(">")] if ">" in words else words
        words = [
            str(CAPTURE) if word.endswith((".pcap", ".jsonl", "/")) and not word.startswith("-") else word
            for word in words
        ]
        # Files that are there too, of which only some verbs look at what is in them.
        words = [str(CAPTURE) if word == "pods.json" else word for word in words]
        words = ["--no-high" if word.startswith("--rules") else word for word in words if word != "limits.toml"]
        with command.make_context(name, words, parent=click.Context(cli), resilient_parsing=False):
            pass


def test_help_names_a_verb_and_guesses_a_wrong_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Examples:" in said("help", "latency")
    assert "--max-reassembly" not in said("help", "latency")
    assert "--max-reassembly" in said("help", "latency", "--all")
    assert "What is going on?" in said("help")
    assert main(["help", "latencies"]) == 2
    assert "did you mean 'latency'?" in capsys.readouterr().err
    assert main(["latency", str(CAPTURE), "--clinet", "x"]) == 2
    assert "--client" in capsys.readouterr().err


def problems(value: Any, wanted: dict[str, Any], place: str = "$") -> Iterator[str]:
    """What of a value its schema does not allow: the words of JSON Schema that ours use."""
    if "anyOf" in wanted:
        found = [list(problems(value, each, place)) for each in wanted["anyOf"]]
        if all(found):
            yield from min(found, key=len)
        return
    kinds = wanted.get("type")
    types = {
        "integer": int,
        "number": (int, float),
        "string": str,
        "boolean": bool,
        "array": list,
        "object": dict,
        "null": type(None),
    }
    if kinds is not None:
        allowed = [kinds] if isinstance(kinds, str) else kinds
        if not any(
            isinstance(value, types[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in allowed
        ):  # type: ignore[arg-type]
            yield f"{place}: {value!r} is not {kinds}"
            return
    if "enum" in wanted and value not in wanted["enum"]:
        yield f"{place}: {value!r} is none of {wanted['enum']}"
    if isinstance(value, int) and abs(value) > 2**53 and wanted and "format" not in wanted:
        yield f"{place}: {value} is no whole number to who reads doubles, and the schema does not say so"
    if "pattern" in wanted and isinstance(value, str) and not re.search(wanted["pattern"], value):
        yield f"{place}: {value!r} does not match {wanted['pattern']}"
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from problems(each, wanted.get("items", {}), f"{place}[{number}]")
    if isinstance(value, dict):
        for name in wanted.get("required", ()):
            if name not in value:
                yield f"{place}: no {name}"
        for name, each in value.items():
            if name in wanted.get("properties", {}):
                yield from problems(each, wanted["properties"][name], f"{place}.{name}")
            elif wanted.get("additionalProperties") is False:
                yield f"{place}: {name} is not in the schema"


# What is asked where a capture is not all that a verb takes.
CALLS: dict[str, list[list[Any]]] = {
    "throttle": [[CAPTURE], [CAPTURE, "--every", "1s"]],
    "check": [
        [CAPTURE, "--max-p99", "50ms", "--no-high"],
        [CAPTURE, "--max-throttled", "5 %", "--broker-version", "4.1"],
    ],
    "diff": [[CAPTURE, SAMPLES / "versions.pcap.zst"]],
    "doctor": [[]],
    "partition": [[SAMPLES / "transactions.pcap.zst", "orders-tx-0"]],
    "show": [[CAPTURE, exchange] for exchange in ("1", "7", "1585")],
    "sql": [[CAPTURE, "select * from captures"], [CAPTURE, "select 1 as a, [1] as b, {'x': 1} as c, null as d"]],
}
DESCRIBED = [name for name in verbs() if has_schema(name) and name != "watch"]


@pytest.fixture(scope="module")
def kept() -> Iterator[KeptDatasets]:
    with KeptDatasets() as datasets:
        yield datasets


@pytest.mark.parametrize("name", DESCRIBED)
def test_answers_keep_their_schema(name: str, kept: KeptDatasets) -> None:
    wanted = json.loads(said(name, "--json-schema"))
    assert wanted == json.loads(json.dumps(schema(name)))
    calls = CALLS.get(name) or [[CAPTURE, "--part", part] for part in PARTS_OF.get(name, ())] or [[CAPTURE]]
    form = () if name == "dump" else ("--format", "json")
    with kept.used():
        said_of = [said(name, *map(str, words), *form, codes=(0, 1, 3) if name == "check" else (0,)) for words in calls]
    for words, answer in zip(calls, said_of, strict=True):
        answers = [json.loads(line) for line in answer.splitlines()] if name in LINES else [json.loads(answer)]
        assert [each for one in answers for each in problems(one, wanted)] == [] != answers, words
    for nonsense in ([{"nonsense": 1}], {"nonsense": 1}, [1]):
        assert name == "sql" or list(problems(nonsense, wanted))
    assert list(problems(1, wanted))


def test_lines_of_watch_keep_their_schema() -> None:
    wanted = json.loads(said("watch", "--json-schema"))
    capture = bytes(cramjam.zstd.decompress((SAMPLES / "groups_classic.pcap.zst").read_bytes()))
    command = [*COMMAND, "watch", "-", "--format", "jsonl"]
    done = subprocess.run(command, input=capture, capture_output=True, timeout=120, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    # Every list has a row, or its part of the schema would not be tried; nothing is throttled there.
    assert all(lines[-1][name] for name in ("latency", "errors", "findings"))
    assert [each for line in lines for each in problems(line, wanted)] == []


PARTS_OF = {
    "topics": ("topics", "lag", "producers"),
    "groups": ("groups", "timeline"),
    "transactions": ("transactions", "producers"),
}


def test_shells_complete_verbs_options_and_files() -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_KANALYZE_COMPLETE" in said("completion", shell)

    def completed(*words: str) -> list[str]:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
            "_KANALYZE_COMPLETE": "bash_complete",
        }
        done = subprocess.run(COMMAND, env=env, capture_output=True, text=True, check=False)
        return done.stdout.split()

    assert "plain,latency" in completed("kanalyze", "lat")
    assert "plain,--client" in completed("kanalyze", "latency", "--cl")
    assert completed("kanalyze", "latency", "sam") == ["file,sam"]
    assert "plain,throttle" in completed("kanalyze", "latency", "x", "--by", "") or "plain,client" in completed(
        "kanalyze", "latency", "x", "--by", ""
    )


def on_a_terminal(tmp_path: Path, *words: str) -> str:
    """What a terminal of 24 lines is shown, its pager being one that says so."""
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\ncat\n", encoding="utf-8")
    pager.chmod(0o755)
    leader, follower = pty.openpty()
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
        "COLUMNS": "100",
        "LINES": "24",
        "KANALYZE_PAGER": str(pager),
    }
    with subprocess.Popen([*COMMAND, *words], stdin=follower, stdout=follower, stderr=follower, env=env) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                more = os.read(leader, 65_536)
            except OSError:
                break
            if not more:
                break
            shown += more
        assert process.wait(60) == 0
    os.close(leader)
    return shown.decode("utf-8", "replace")


def test_a_long_answer_is_paged_for_who_looks_and_for_nobody_else(tmp_path: Path) -> None:
    assert "PAGED" in on_a_terminal(tmp_path, "latency", str(CAPTURE))
    assert "PAGED" not in on_a_terminal(tmp_path, "latency", str(CAPTURE), "--no-pager")
    assert "PAGED" not in on_a_terminal(tmp_path, "unanswered", str(CAPTURE))
    assert "PAGED" not in said("latency", str(CAPTURE))


def test_every_verb_answers_a_question_of_the_help() -> None:
    assert sorted(name for names in QUESTIONS.values() for name in names) == sorted(verbs())


def test_no_match_is_one_answer(capsys: pytest.CaptureFixture[str]) -> None:
    answers = set()
    for verb in ("report", "latency", "errors", "clients", "topics", "unanswered"):
        assert main([verb, str(CAPTURE), "--client", "nobody"]) == 0
        assert main([verb, str(CAPTURE), "--client", "nobody", "--strict"]) == 3
        answers |= set(capsys.readouterr().out.split("No request matches client nobody.\n")[1:])
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--verson"], "Did you mean '--version'?"),
        (["show", str(CAPTURE)], "EXCHANGE is missing"),
        (["show"], "CAPTURE and EXCHANGE are missing"),
        (["show", "--packet", "5"], "CAPTURE is missing"),
        (["partition", str(CAPTURE)], "TOPIC-N is missing"),
        (["export", str(CAPTURE), "--to", "x.sqlite"], "SQLite is not written"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err

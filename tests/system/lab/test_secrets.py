"""Passwords, proofs and tokens of the lab's logins are in no output: not in a table, a report, a dump, nor on stderr.

What to look for comes from TRUTH.json and the lab's README; each is searched as it is, in base64 and in hex.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from kept_datasets import kept_datasets

from analyzer.cli.main import cli

# Of `sasl`, whose passwords stand in the README only.
IN_README = ("admin-pw", "alice-pw", "bob-pw", "dave-secret", "erin-secret")
VERBS = (
    ("report",),
    ("report", "--format", "json"),
    ("findings", "--format", "json"),
    ("clients", "--format", "json"),
    ("connections", "--format", "json"),
    ("errors", "--format", "json"),
    ("exchanges", "--format", "jsonl"),
    ("dump",),
    ("dump", "--records"),
)


def kanalyze(*arguments: str) -> bytes:
    """Everything that a run says, on stdout and stderr."""
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    return done.output.encode()


def secrets(name: str, lab: Path) -> list[bytes]:
    truth = json.loads((lab / "TRUTH.json").read_text(encoding="utf-8"))[name]
    found = [password.encode() for password in (*IN_README, *truth.get("passwords", ()))]
    found += [base64.b64decode(token["hmac"]) for token in truth.get("delegation_tokens", ())]
    return found


def spellings(secret: bytes) -> Iterator[bytes]:
    yield secret
    yield base64.b64encode(secret).rstrip(b"=")
    yield secret.hex().encode()
    yield secret.hex().upper().encode()


@pytest.mark.parametrize("name", ["sasl", "sasl_old", "sasl_token"])
def test_no_output_holds_a_secret(name: str, shared: Path, tmp_path: Path) -> None:
    lab = shared / "captures" / "lab"
    (capture,) = lab.glob(f"{name}.pcap*")
    # Not compressed and not encoded: what a table holds is searched as it stands.
    with kept_datasets():
        said = {" ".join(verb): kanalyze(verb[0], str(capture), *verb[1:]) for verb in VERBS}
    said["export"] = kanalyze("export", str(capture), "--to", str(tmp_path / "tables"), "--format", "jsonl")
    said |= {path.name: path.read_bytes() for path in (tmp_path / "tables").iterdir()}
    assert len(said) > 20 and sum(map(len, said.values())) > 100_000
    wanted = [(secret, form) for secret in secrets(name, lab) for form in spellings(secret)]
    assert [(place, secret[:3]) for place, text in said.items() for secret, form in wanted if form in text] == []


def test_a_secret_would_be_seen(shared: Path) -> None:
    """The passwords are in the packets, so that not finding them means something."""
    lab = shared / "captures" / "lab"
    capture = (lab / "sasl_old.pcap").read_bytes()
    assert any(secret in capture for secret in secrets("sasl_old", lab))

"""A question that fails by a bug of ours is named, and all others are answered: exit code 70 at the end."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from analyzer.cli.main import main
from analyzer.inputs.sources import Source
from analyzer.query import findings, metrics, questions

RULE, METRIC = "throttled", "errors"
WATCHED = ("errors", "coverage", "throttle", "latency")
TOO_LARGE = "CAST(9999999999 + count(*) AS INTEGER)"


@pytest.fixture
def capture(samples: Path) -> str:
    return str(samples / "throttle.pcap.zst")


@pytest.fixture
def with_broken_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = findings.rule

    def broken(name: str) -> findings.Rule:
        real = rule(name)
        broken = real.conditions[0]._replace(sql=f"{TOO_LARGE} > 0")
        return real._replace(conditions=(broken,)) if name == RULE else real

    monkeypatch.setattr(findings, "rule", broken)


@pytest.fixture
def with_broken_metric(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    text, wrong = metrics.text, getattr(request, "param", METRIC)
    broken = f"SELECT {TOO_LARGE} AS count FROM exchanges"
    for module in (metrics, questions):
        monkeypatch.setattr(module, "text", lambda name: broken if name == wrong else text(name))
    return wrong


@pytest.mark.usefixtures("with_broken_rule")
def test_a_report_without_one_rule(capture: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", capture]) == 70
    told = capsys.readouterr()
    (line,) = [line for line in told.out.splitlines() if line.startswith("Not shown: ")]
    assert (
        line.startswith("Not shown: finding throttled: a bug in kanalyze, not in your input: ")
        and "out of range" in line
    )
    assert "shop-slow-p" in told.out and "\nRequests without a reply" in told.out
    assert "KANALYZE_DEBUG=1" in told.err and "Traceback" not in told.err


@pytest.mark.usefixtures("with_broken_rule")
@pytest.mark.parametrize("form", ["table", "jsonl"])
def test_findings_without_one_rule(form: str, capture: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["findings", "--format", form, capture]) == 70
    told = capsys.readouterr()
    assert told.out.count("shop-slow-p") and "a bug in kanalyze" in told.err


@pytest.mark.usefixtures("with_broken_rule")
def test_a_check_does_not_pass_where_a_rule_was_not_asked(capture: str) -> None:
    assert main(["check", "--no-high", capture]) == 70


@pytest.mark.usefixtures("with_broken_metric")
def test_forms_of_the_report_without_one_metric(
    capture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", capture]) == 70
    assert "\nNot shown: errors: a bug in kanalyze" in capsys.readouterr().out
    assert main(["report", "--format", "json", capture]) == 70
    told = json.loads(capsys.readouterr().out)
    assert list(told["not_shown"]) == [METRIC] and METRIC not in told and told["latency"] and told["findings"]
    page = tmp_path / "page.html"
    assert main(["html", "-o", str(page), capture]) == 70
    assert '"not_shown":{"errors":"a bug in kanalyze' in page.read_text().replace('": ', '":')


@pytest.mark.usefixtures("with_broken_metric")
def test_one_metric_alone(capture: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errors", capture]) == 70
    assert "a bug in kanalyze" in capsys.readouterr().err


NOT_KNOWN = "Whether all could be read is not known: a bug in kanalyze, not in your input: DatasetError: "


@pytest.mark.parametrize("with_broken_metric", ["readability"], indirect=True)
@pytest.mark.parametrize("verb", ["report", "findings", "check --no-high", "report --format json", "html"])
def test_answers_where_what_was_read_is_not_known(
    with_broken_metric: str, verb: str, capture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are shown, and nothing counts as whole."""
    page = tmp_path / "page.html"
    words = verb.split()
    assert main([words[0], capture, *words[1:], *(["-o", str(page)] if verb == "html" else [])]) == 70
    told = capsys.readouterr()
    shown = page.read_text() if verb == "html" else told.out
    assert NOT_KNOWN in " ".join(shown.split()) and ("shop-slow-p" in shown or verb.startswith("check"))
    assert "a bug in kanalyze" in told.err and "Traceback" not in told.err
    if verb == "report --format json":
        answer = json.loads(shown)
        assert list(answer["not_shown"]) == [with_broken_metric] and answer["latency"]
        assert (answer["readable"]["verdict"], answer["readable"]["reasons"]) == ("partly", ["not_known"])
        assert answer["readable"]["sentence"].startswith(NOT_KNOWN)


@pytest.mark.parametrize("with_broken_metric", [*WATCHED, "readability"], indirect=True)
def test_a_running_watch_without_one_metric(
    with_broken_metric: str,
    capture: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    path = tmp_path / "throttle.pcap"
    path.write_bytes(b"".join(Source("throttle", Path(capture)).blocks()))
    with path.open() as given:
        monkeypatch.setattr(sys, "stdin", given)
        assert main(["watch", "--format", "jsonl", "-"]) == 70
    told = capsys.readouterr()
    line = json.loads(told.out.splitlines()[-1])
    # What has happened since the beginning is counted by the same metric as the coverage of the windows.
    missing = {with_broken_metric, *(["run"] if with_broken_metric == "coverage" else [])}
    assert set(line["not_shown"]) == missing and not missing & set(line)
    assert line["findings"] and all(line[name] for name in WATCHED if name not in missing)
    assert (NOT_KNOWN in (line["readable"]["sentence"] or "")) == (with_broken_metric == "readability")
    assert "a bug in kanalyze" in told.err

"""What is left out is said: numbers of findings that are not shown, what a column means only where the column is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import FETCH, SECOND_NS, STORIES, failing, many
from impact_stories import between, cut_off, many_waiting, waiting
from made_rows import REFUSED, START_NS, Rows, connection, dataset
from progress_stories import no_request

from analyzer.query.run_findings import find
from analyzer.report import text_tables
from analyzer.report.facts import Facts
from analyzer.report.sections.attention import listed, render
from analyzer.report.sentences import sentence
from analyzer.report.text_tables import Column, Row

# A topic is gone while somebody waits for its records: one finding, for information.
DELETED = failing(3, many(2, 5, **FETCH, latency_ns=SECOND_NS // 2), topic="t")
DELETED |= {"errors": [row | {"name": "UNKNOWN_TOPIC_OR_PARTITION"} for row in DELETED["errors"]]}


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([4], "4"), ([4, 5, 6], "4 to 6"), ([4, 5, 8], "4 to 5 and 8"), ([2, 4, 6, 7], "2, 4 and 6 to 7")],
)
def test_numbers_that_are_left_out_are_named(numbers: list[int], expected: str) -> None:
    assert listed(numbers) == expected


def _refused(times: int) -> dict[str, Rows]:
    """A client that asks so often at a port of a broker's host where nobody listens, and is served beside it."""
    row = REFUSED | {"requests": 0, "replies": 0, "broker_port": 9099}
    beside = [connection(2 + each, first_time_ns=START_NS + each * 4 * SECOND_NS, **row) for each in range(times)]
    return many_waiting([0.1, 0.1]) | {"connections": [connection(1), *beside]}


@pytest.mark.parametrize(
    ("story", "begins", "fact"),
    [
        (many_waiting([0.6, 0.6, 0.7]), "Nothing serious found: ", "3 of 3 Metadata took 500 ms or longer"),
        (many_waiting([2.6, 2.6, 2.7]), "Something was slow, and no cause was found: ", "waits for Metadata"),
        (between(5), "Nothing serious found: ", "5 BrokerRegistration between brokers were refused"),
        (many_waiting([0.1, 0.1, 0.1]), "Nothing found: ", None),
        (DELETED, "Nothing serious found: 2 errors", 'For information: 1 info    "app" keeps asking for topic t'),
        (
            _refused(2),
            "Nothing serious found: ",
            "For information: 1 info    10.0.1.1:9099 refuses connections, 2 attempts",
        ),
    ],
)
def test_nothing_is_found_only_where_no_impact_is_above_its_limit(
    story: dict[str, Rows], begins: str, fact: str | None, tmp_path: Path
) -> None:
    with dataset(tmp_path, story) as made:
        text = " ".join(line.plain.strip() for line in render(Facts(made), 120, 5)[1:])
    assert text.startswith(begins)
    assert fact in text if fact is not None else "no rule here knows why" not in text


def test_findings_for_information_are_counted_where_none_is_shown(tmp_path: Path) -> None:
    with dataset(tmp_path, STORIES["no_compression"][0]()) as made:
        assert [(each.rule.name, each.severity) for each in find(made)] == [("no_compression", "info")]
        text = " ".join(line.plain.strip() for line in render(Facts(made), 200, 5)[1:])
    assert text.startswith("Nothing serious found: ") and "... and 1 for information (kanalyze findings" in text


@pytest.mark.parametrize(
    ("story", "largest"),
    [
        (many_waiting([0.1, 0.1]), ""),
        (many_waiting([0.6, 0.1]), " Largest impact: 1 Metadata request of 500 ms or longer."),
        # Of its limit it is more.
        (
            many_waiting([0.6, 0.1]) | {"connections": [connection(1, syn_ack_ns=1_500_000_000)]},
            " Largest impact: a connection that was answered after 1.5 s.",
        ),
        (
            waiting([3.0], kind="join_wait", api_key=11, api_name="JoinGroup"),
            " Largest impact: a wait of 3.0 s for other members (JoinGroup).",
        ),
        (cut_off(2, client_id="a") | {"connections": []}, " Largest impact: 2 Metadata requests without a reply."),
    ],
)
def test_the_largest_account_is_named_where_nothing_is_found(
    story: dict[str, Rows], largest: str, tmp_path: Path
) -> None:
    with dataset(tmp_path, story) as made:
        text = " ".join(line.plain.strip() for line in render(Facts(made), 200, 5)[1:])
    assert text.startswith("Nothing found: ")
    assert (largest in text) if largest else ("largest" not in text)


def test_notes_are_about_columns_that_are_shown() -> None:
    columns = [
        Column("who", least=4),
        Column("round trips", right=True, spare=2),
        Column("closed", right=True, spare=1),
    ]
    notes = "who: whoever it was; round trips: of the network; closed: by the broker."
    every = text_tables.table_of_filled(columns, [Row(["bank", "7", "8"])], 60)
    assert text_tables.of_shown(notes, columns, every) == notes
    filled = text_tables.table_of_filled(columns, [Row(["bank", "7", "-"])], 60)
    assert text_tables.of_shown(notes, columns, filled) == "who: whoever it was; round trips: of the network."
    narrow = text_tables.table_of_filled(columns, [Row(["bank", "7", "8"])], 16)
    assert text_tables.of_shown(notes, columns, narrow) == "who: whoever it was; closed: by the broker."
    # Another column may begin with the same word.
    columns = [Column("first bytes", least=8, spare=1), Column("first")]
    shown = text_tables.table_of_filled(columns, [Row(["-", "7"])], 60)
    assert text_tables.of_shown("first bytes: of the client.", columns, shown) == ""


@pytest.mark.parametrize(("closed_by", "said"), [("broker", "; the broker closed it"), ("client", " connection")])
def test_whose_connections_were_closed(closed_by: str, said: str, tmp_path: Path) -> None:
    tables = no_request()
    tables["connections"][0]["closed_by"] = closed_by
    with dataset(tmp_path, tables) as made:
        (found,) = (each for each in find(made) if each.rule.name == "broken_frames")
    assert sentence(found.rule.says, found.row).endswith(said)

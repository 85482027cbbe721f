"""The page in a browser: it draws itself without an error or a request, shows what verbs say, narrows, sorts, and obeys keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser import Page, chromium
from effort import also_long
from made_rows import SECOND_NS, START_NS, connection, dataset, exchange

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.page.document import document
from analyzer.page.page_data import QUESTIONS, page_data
from analyzer.page.page_tables import value
from analyzer.page.slowest_trees import slowest_trees
from analyzer.query.questions import narrowed
from analyzer.report import format as words
from analyzer.run.local import open_dataset

ASKED = (Path(__file__).parent / "asked.js").read_text(encoding="utf-8")
INCIDENTS = Path(__file__).parents[2] / "data" / "incidents"
# One page of two captures, with time between them that was not captured; then pages of one.
CAPTURES = also_long([("groups_classic", "throttle")], [("groups_classic",), ("throttle",), ("transactions",)])
Opened = tuple[Page, dict[str, Any], list[str]]


def made(inputs: list[str], path: Path) -> dict[str, Any]:
    """Writes the page of captures; its data."""
    options = Options()
    with open_dataset(inputs, options, None) as found:
        data = page_data(found, lambda wanted: slowest_trees(found, inputs, options, wanted))
    path.write_text(document(data), encoding="utf-8")
    return data


@pytest.fixture(scope="module", params=CAPTURES, ids="_".join)
def page(request: pytest.FixtureRequest, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    chromium()
    captures = [str(samples / f"{name}.pcap.zst") for name in request.param]
    path = tmp_path_factory.mktemp("page") / "report.html"
    data = made(captures, path)
    with Page(path) as opened:
        yield opened, data, captures


def test_nothing_is_asked_for_and_nothing_goes_wrong(page: Opened) -> None:
    opened, _, _ = page
    assert opened.problems == []
    assert all(url.startswith("file:") for url in opened.requests) and len(opened.requests) == 1
    # It may not, even if something tried.
    assert opened.ask("fetch('https://example.org').then(() => 'sent', () => 'refused')") == "refused"
    assert opened.ask("document.documentElement.scrollWidth <= innerWidth")
    opened.problems.clear()


def test_every_chart_has_marks(page: Opened) -> None:
    opened, _, _ = page
    charts = opened.ask(f"{ASKED} marks()")
    assert len(charts) >= 7
    assert [label for label, colours in charts if colours < 2] == []
    assert opened.ask("document.querySelectorAll('.share-bar span').length") > 3
    assert opened.ask("document.querySelectorAll('.ribbon').length") > 1
    assert opened.ask("document.querySelectorAll('.lane-bar').length") > 3
    # Nothing is drawn wider than its frame.
    flows = "document.querySelector('.flow-drawing')"
    assert opened.ask(f"{flows}.scrollWidth <= {flows}.clientWidth")


def test_the_page_shows_what_verbs_say(page: Opened) -> None:
    """Each table has the rows of its metric, asked once more; each number is written as the terminal writes it."""
    opened, data, captures = page
    origin = data["origin_ms"] * 1_000_000
    with open_dataset(captures, Options(), None) as found:
        for name, question in QUESTIONS.items():
            found.choose(Settings(question.by, data["time"]["every_ns"] if question.over_time else None))
            rows = (
                found.query(narrowed(question.metric, question.wanted))
                if question.wanted
                else found.metric(question.metric)
            )
            shown = opened.ask(f"{ASKED} tableOf({json.dumps(name)})")
            assert len(shown["rows"]) == min(len(rows), question.most or len(rows)), name
            for row, cells in zip(rows, shown["rows"], strict=False):
                mine = {
                    each: value(each, row[each], origin)
                    for each in row
                    if row[each] is not None and each != "total_rows"
                }
                theirs = {each: cell for each, cell in zip(shown["columns"], cells, strict=True) if cell is not None}
                assert theirs == pytest.approx(mine), name
        found.choose(Settings())
        latency = found.metric("latency")
    cells = opened.ask(f"{ASKED} lines('apis')")
    forms: dict[str, Callable[[Any], str]] = {
        "count": words.count,
        "rate_per_s": words.rate,
        "errors": words.count,
        "throttled": words.count,
    }
    forms |= dict.fromkeys(("p50_ns", "p90_ns", "p99_ns", "max_ns"), words.duration)
    written = [{name: form(row[name]) for name, form in forms.items()} for row in latency]
    assert len(cells) == len(latency)
    for row in cells:
        assert {name: row[name] for name in forms} in written
    figures = opened.ask(f"{ASKED} figures()")
    with open_dataset(captures, Options(), None) as found:
        (coverage,) = found.metric("coverage")
    assert figures["requests"] == words.count(coverage["requests"])
    assert figures["to brokers"] == words.size(coverage["request_bytes"])
    assert figures["clients"] == words.count(coverage["clients"])


def test_findings_stand_in_the_order_of_the_verb(page: Opened) -> None:
    opened, data, _ = page
    shown = opened.ask("[...document.querySelectorAll('.finding .sentence')].map((each) => each.textContent)")
    severe = [each["sentence"] for each in data["findings"] if each["severity"] != "info"]
    assert shown == severe + [each["sentence"] for each in data["findings"] if each["severity"] == "info"]
    for each in data["findings"]:
        assert f"--finding {each['number']} " in each["extract"]


def test_a_selection_narrows_what_stands_below(page: Opened) -> None:
    """The sums of a selection are those of its slots, and of all slots they are the whole."""
    opened, data, _ = page
    table = data["tables"]["activity_by_client"]
    place = {name: at for at, name in enumerate(table["columns"])}

    def requests(begin: int, end: int) -> int:
        return sum(
            row[place["requests"]]
            for row in table["rows"]
            if begin <= row[place["slot_ns"]] < end and not row[place["between_brokers"]]
        )

    def shown() -> int:
        return sum(int(row["requests"].replace(",", "")) for row in opened.ask(f"{ASKED} lines('clients')"))

    opened.drag(".track", 0.3, 0.7)
    text = opened.ask("document.querySelector('.selection').textContent")
    assert text.startswith("Selected: ")
    scope = opened.ask("document.querySelector('#clients .scope').textContent")
    assert scope.startswith("Sums of ")
    command = opened.ask("document.querySelector('#clients code').textContent")
    moments = re.search(r" --from (\S+) --to (\S+)$", command)
    assert moments is not None
    from analyzer.cli.values import UtcTime

    begin, end = (UtcTime().convert(each, None, None) - data["origin_ms"] * 1_000_000 for each in moments.groups())
    every = data["time"]["every_ns"]
    assert shown() == requests(begin // every * every, end)
    opened.ask("document.querySelector('.reset').click()")
    opened.settled()
    assert opened.ask("document.querySelector('.selection').textContent").startswith("All of it")
    assert opened.ask("document.querySelector('#clients .scope').hidden")
    opened.drag("#time .u-over", 0.2, 0.5)
    assert opened.ask("document.querySelector('.selection').textContent").startswith("Selected: ")
    opened.ask("document.querySelector('.reset').click()")
    opened.settled()


def test_keys_move_the_selection(page: Opened) -> None:
    opened, _, _ = page
    opened.ask("document.querySelector('.handle.begin').focus()")
    before = opened.ask("document.activeElement.getAttribute('aria-valuetext')")
    opened.press("PageDown", 2)
    assert opened.ask("document.querySelector('.handle.begin').getAttribute('aria-valuetext')") > before
    opened.press("Escape")
    assert opened.ask("document.querySelector('.reset').hidden")


def test_tables_sort_and_filter(page: Opened) -> None:
    opened, data, _ = page
    head = f"{ASKED} heading('clients', 'requests')"
    for word in ("descending", "ascending"):
        opened.ask(f"{head}.querySelector('button').click()")
        assert opened.ask(f"{head}.getAttribute('aria-sort')") == word
        found = [int(row["requests"].replace(",", "")) for row in opened.ask(f"{ASKED} lines('clients')")]
        assert found == sorted(found, reverse=word == "descending")
    clients = data["tables"]["clients"]
    name = clients["rows"][-1][clients["columns"].index("client_id")]
    opened.ask(f"{ASKED} filter('clients', {json.dumps(name)})")
    rows = opened.ask(f"{ASKED} lines('clients')")
    assert rows and all(name in " ".join(row.values()) for row in rows)
    opened.ask(f"{ASKED} filter('clients', '')")


def test_a_slow_request_opens_as_a_tree_with_packets(page: Opened) -> None:
    opened, data, _ = page
    opened.ask("document.querySelector('#slowest .open').click()")
    tree = opened.ask("document.querySelector('#slowest .below').textContent")
    assert "correlation_id" in tree and "begins in packet " in tree
    slowest = data["tables"]["slowest"]
    assert len(data["trees"]) == len(slowest["rows"])
    assert opened.ask("document.querySelectorAll('#slowest .leaf').length") > 5


def test_a_screen_reader_finds_names(page: Opened) -> None:
    opened, _, _ = page
    wanted = {"button", "link", "slider", "searchbox", "combobox", "img", "image", "table", "checkbox", "region"}
    for node in opened.accessibility():
        role = node.get("role", {}).get("value")
        if role in wanted and not node.get("ignored"):
            assert node.get("name", {}).get("value"), node
    assert opened.ask("document.documentElement.lang") == "en"
    levels = opened.ask("[...document.querySelectorAll('h1, h2, h3')].map((each) => Number(each.tagName[1]))")
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))


def test_words_are_readable_in_light_and_dark(page: Opened) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1."""
    opened, _, _ = page
    for _ in range(2):
        assert [found for found in opened.ask(f"{ASKED} contrast()") if found[1] < 4.5] == []
        opened.ask("document.getElementById('theme').click()")


def test_the_glossary_is_a_click_away(page: Opened) -> None:
    opened, _, _ = page
    opened.ask("document.getElementById('open-glossary').click()")
    assert opened.ask("document.getElementById('glossary').open")
    assert "p50, p90, p99" in opened.ask("document.getElementById('glossary').textContent")
    opened.ask("document.getElementById('glossary').close()")


HOSTILE = (
    "<script>window.hostile = 1</script>",
    "</script><img src=x onerror='window.hostile = 2'>", "\x1b[31mred\x1b]0;title\x07",
    "evil\u202egnp.exe", "\u2066iso\u2069", "x" * 100_000, "javascript:window.hostile=3",
    "'\"`${window.hostile=4}", "", "a\nb\rc\td\0e",
)  # fmt: skip


def test_hostile_names_are_inert(tmp_path: Path) -> None:
    chromium()
    exchanges, links, entries = [], [], []
    for number in range(400):
        name = HOSTILE[number % len(HOSTILE)]
        at = START_NS + number * SECOND_NS // 45
        api = (
            {"api_key": 0, "api_name": "Produce", "kind": "produce_acks_all"}
            if number % 2
            else {"api_name": name[:300] or None, "group_id": name, "transactional_id": name}
        )
        more = {
            "service_ns": 400_000,
            "send_ns": 0,
            "receive_ns": 0,
            "queue_ns": 0,
            "muted_ns": 0,
            "throttle_time_ms": 50 * (number % 7 == 0),
        }
        exchanges.append(
            exchange(
                number,
                at_ns=at,
                latency_ns=1_000_000 * (number % 30 + 1),
                client_id=name,
                connection=number % 9,
                principal=name,
                **api,
                **more,
            )
        )
        entries.append(
            {
                "exchange": number,
                "connection": number % 9,
                "side": "request",
                "topic": name or "t",
                "partition": 0,
                "record_bytes": 100 + number,
            }
        )
    for number in range(9):
        links.append(
            connection(number, software_name=HOSTILE[number], principal=HOSTILE[number], cluster=HOSTILE[number][:50])
        )
    path = tmp_path / "hostile.html"
    with dataset(tmp_path, {"exchanges": exchanges, "connections": links, "entries": entries}) as found:
        path.write_text(document(page_data(found, lambda _: {})), encoding="utf-8")
    assert path.stat().st_size < 8_000_000
    for width in (1280, 390):
        with Page(path, width=width, dark=width < 500) as opened:
            opened.ask(
                "document.querySelectorAll('.more, .finding-head, summary, .help').forEach((each) => each.click())"
            )
            opened.settled()
            assert opened.problems == []
            assert len(opened.requests) == 1
            assert opened.ask("window.hostile === undefined")
            assert opened.ask("document.querySelectorAll('img, iframe, object, embed').length") == 0
            assert opened.ask("document.querySelectorAll('script').length") == 4
            text = opened.ask("document.body.innerText")
            assert "<script>window.hostile" in text
            assert not re.search("[\x1b\u202e\u2066\x07]", text)
            assert opened.ask("document.documentElement.scrollWidth <= innerWidth")


def test_what_tls_hides_is_not_told_as_none(tmp_path: Path) -> None:
    chromium()
    made([str(INCIDENTS / "nat_tls_java.pcap.zst")], tmp_path / "report.html")
    with Page(tmp_path / "report.html") as opened:
        figures = opened.ask(f"{ASKED} figures()")
        assert [name for name, number in figures.items() if number in ("0", "0 B", "nothing")] == []
        assert figures["requests"] == "not known"
        assert opened.ask("[...document.querySelectorAll('.calm')].filter((each) => !each.hidden).length") == 0


def test_numbers_are_written_as_on_the_terminal(tmp_path: Path) -> None:
    """Two programs for one rule: analyzer/report/format.py and numbers.js."""
    chromium()
    numbers = [
        0,
        1,
        9,
        999,
        1000,
        9_949,
        9_950,
        99_499,
        99_500,
        994_999,
        995_000,
        9_949_999,
        9_950_000,
        999_499_999,
        999_500_000,
        59_949_999_999,
        59_950_000_000,
    ]
    numbers += [
        -5,
        3_599_499_999_999,
        3_600_000_000_000,
        86_399 * SECOND_NS,
        90_000 * SECOND_NS,
        9_999,
        10_000,
        123_456_789,
        999_499,
        10**15 + 7,
    ]
    numbers += [round(1.37**power) for power in range(1, 112)]
    parts = [0.0, 0.0004, 0.001, 0.0449, 0.0994, 0.0995, 0.1, 0.125, 0.345, 0.985, 0.995, 0.9999, 1.0]
    rates = [0.0, 0.001, 0.0099, 0.01, 0.125, 0.994, 0.995, 1.25, 2.5, 9.94, 9.95, 10.5, 11.5, 1234.5, 98765.4]
    sizes = [number for number in numbers if number >= 0]
    script = (Path(document.__code__.co_filename).parent / "assets" / "numbers.js").read_text(encoding="utf-8")
    page = tmp_path / "numbers.html"
    ready = "document.documentElement.dataset.ready = 1; Object.assign(window, { duration, size, count, share, rate, percent });"
    page.write_text(f"<script>{script}\n{ready}</script>", encoding="utf-8")
    with Page(page) as opened:
        for name, values in (
            ("duration", numbers),
            ("size", sizes),
            ("count", sizes),
            ("share", parts),
            ("rate", rates),
        ):
            shown = opened.ask(f"{json.dumps(values)}.map((each) => {name}(each))")
            assert dict(zip(values, shown, strict=True)) == {each: getattr(words, name)(each) for each in values}, name
        pairs = [(0, 5), (5, 5), (1, 3), (9_999, 10_000), (99_999, 100_000), (1, 10**6), (2, 3), (0, 0)]
        assert opened.ask(f"{json.dumps(pairs)}.map(([part, whole]) => percent(part, whole))") == [
            words.percent(*pair) for pair in pairs
        ]

"""The time axis by keys and by words, and the link that holds what is selected and filtered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Page, chromium
from paths import ROOT

from analyzer.base.moments import moment
from analyzer.base.options import Options
from analyzer.page.document import document
from analyzer.page.page_data import page_data
from analyzer.run.local import open_dataset

ASKED = (Path(__file__).parent / "asked.js").read_text(encoding="utf-8")
INCIDENT = ROOT / "tests" / "data" / "incidents" / "broker_killed.pcap.zst"
SECOND = 10**9
# As in ASKED: what the page says is selected, and what it announced last.
SELECTED = "document.querySelector('.selection').textContent"
ANNOUNCED = "document.getElementById('announcements').textContent"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chromium()
    made = tmp_path_factory.mktemp("steering") / "report.html"
    with open_dataset([str(INCIDENT)], Options(), None) as found:
        made.write_text(document(page_data(found, lambda _: {})), encoding="utf-8")
    return made


@pytest.fixture
def page(path: Path) -> Iterator[Page]:
    with Page(path) as opened:
        yield opened
        assert opened.problems == []


def ends(page: Page) -> list[int]:
    """The selected time, ns from the page's origin, read off the two handles, which have milliseconds."""
    texts = page.ask("[...document.querySelectorAll('.handle')].map((each) => each.getAttribute('aria-valuetext'))")
    found = [moment(text) for text in texts]
    return [each.ns for each in found if each is not None]


def search(page: Page, words: str) -> str:
    page.ask(
        f"(() => {{ const box = document.querySelector('.go'); box.focus(); box.value = {json.dumps(words)}; }})()"
    )
    page.press("Enter")
    return str(page.ask(ANNOUNCED))


def test_keys_zoom_and_move(page: Page) -> None:
    page.ask("document.querySelector('.track').focus()")
    first, last = ends(page)
    page.press("+")
    begin, end = ends(page)
    assert (end - begin) * 2 == pytest.approx(last - first, rel=0.01)
    assert begin - first == pytest.approx(last - end, rel=0.01)
    page.press("ArrowRight")
    assert [(each - old) * 8 for each, old in zip(ends(page), (begin, end), strict=True)] == pytest.approx(
        [last - first] * 2, rel=0.01
    )
    page.press("-", 2)
    assert page.ask(SELECTED).startswith("All of it")
    page.press("/")
    assert page.ask("document.activeElement.classList.contains('go')")
    # In the box they are letters.
    page.press("+")
    assert page.ask(SELECTED).startswith("All of it")


@pytest.mark.parametrize(
    ("words", "begin", "end"),
    [
        ("18:26:20 to 18:26:30", (18 * 3600 + 26 * 60 + 20) * SECOND, (18 * 3600 + 26 * 60 + 30) * SECOND),
        ("18:26:20.5..18:26:21", (18 * 3600 + 26 * 60 + 20.5) * SECOND, (18 * 3600 + 26 * 60 + 21) * SECOND),
        ("2026-11-23T18:26:20..18:26:30", (18 * 3600 + 26 * 60 + 20) * SECOND, (18 * 3600 + 26 * 60 + 30) * SECOND),
    ],
)
def test_a_range_is_selected_as_it_is_printed(page: Page, words: str, begin: float, end: float) -> None:
    search(page, words)
    assert ends(page) == pytest.approx([begin, end], abs=1_000_000)


def test_distances_are_from_the_ends(page: Page) -> None:
    first, last = ends(page)
    search(page, "+2s to -500ms")
    assert ends(page) == pytest.approx([first + 2 * SECOND, last - SECOND // 2], abs=2_000_000)


def test_words_find_what_happened(page: Page) -> None:
    assert "became unavailable" in search(page, "Unavailable broker")
    assert page.ask(SELECTED).startswith("Selected: ")
    assert search(page, "no such thing") == "Nothing on the time axis has these words"
    assert search(page, "23:59:59") == "23:59:59 is not in this capture"


def test_a_link_holds_selection_and_filters(page: Page, path: Path) -> None:
    search(page, "18:26:20.123 to 18:26:30")
    page.ask(f"{ASKED} filter('connections', 'fin')")
    wanted = ends(page), page.ask(f"{ASKED} lines('connections')")
    page.until("location.hash.includes('Connections')")
    link = page.ask("location.href")
    assert link.endswith("#from=18:26:20.123&to=18:26:30&Connections=fin")
    with Page(path) as other:
        whole = other.ask(f"{ASKED} lines('connections')")
        # Another file, so that it is loaded with its link.
        sent = path.with_name("sent.html")
        sent.write_bytes(path.read_bytes())
        other.go(sent.resolve().as_uri() + "#" + link.partition("#")[2])
        other.until("location.pathname.endsWith('sent.html') && document.documentElement?.dataset.ready")
        other.settled()
        assert (ends(other), other.ask(f"{ASKED} lines('connections')")) == wanted
        assert wanted[1] != whole
        # Hostile words select nothing.
        other.go(sent.resolve().as_uri() + "#from=<img src=x>&Connections=<b>&nothing=1")
        other.settled()
        assert other.ask(ANNOUNCED) == "The time of this link is not one that the page knows"
        assert other.ask("document.querySelectorAll('#sections img, #sections b b').length") == 0
        assert other.problems == []


def test_a_selection_has_its_rows_with_their_parts_one_after_the_other(page: Page) -> None:
    with open_dataset([str(INCIDENT)], Options(), None) as found:
        rows = found.metric("slowest_thousand")
    assert len(rows) > 200
    origin = page.ask("JSON.parse(document.getElementById('data').textContent).origin_ms") * 1_000_000
    search(page, "18:26:20 to 18:26:30")
    inside = [
        row
        for row in rows
        if 20 * SECOND <= row["request_time_ns"] - origin - (18 * 60 + 26) * 60 * SECOND <= 30 * SECOND
    ]
    shown = page.ask(f"{ASKED} lines('slowest')")
    packets = [f"{row['request_packet']} > {row['response_packet']}" for row in inside]
    assert [row["packets"] for row in shown if "packets" in row] == packets and len(packets) > 30
    page.ask("document.querySelector('#slowest .open').click()")
    bars = page.ask(
        "[...document.querySelectorAll('#slowest .below:not([hidden]) .fall i')]"
        ".map((each) => { const box = each.getBoundingClientRect(); return [box.left, box.right]; })"
    )
    parts = [
        inside[0][f"{name}_ns"]
        for name in ("send", "queue", "muted", "proxy", "broker", "network", "unknown", "receive")
    ]
    assert len(bars) == sum(1 for each in parts if each)
    track = page.ask(
        "(() => { const box = document.querySelector('.fall-track').getBoundingClientRect(); return [box.left, box.width]; })()"
    )
    at = track[0]
    for (left, _), each in zip(bars, [each for each in parts if each], strict=True):
        assert left == pytest.approx(at, abs=1)
        at += each / sum(each or 0 for each in parts) * track[1]
    # All of it is in sight, however wide the table is: not below the sign at its edge, which is 34 pixels wide.
    assert page.ask(
        "(() => { const [fall, frame] = ['.fall', '.table'].map((each) => document.querySelector(`#slowest ${each}`)"
        ".getBoundingClientRect()); return fall.right <= frame.right - 34; })()"
    )

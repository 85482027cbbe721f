"""Sequence numbers of what was sent -> those of what was said."""

from __future__ import annotations

from analyzer.redact.plain_positions import Content, Side

FLOW = (0, 1, 40_000, 0, 2, 9092, 0)
FIRST = (1 << 32) - 50  # numbers go on at 0 soon


def side() -> Side:
    """A handshake of 200 bytes, then 100 bytes that say 70, then 100 that say 80."""
    found = Side(1, FLOW, FIRST)
    assert found.add(FIRST, 200, ()) == (FIRST, ())
    assert found.add(FIRST + 200, 100, (Content(FIRST & 0xFFFFFFFF, 0, 70),))[0] == FIRST
    assert found.add(FIRST + 300, 100, (Content((FIRST + 70) & 0xFFFFFFFF, 70, 80),))[0] == FIRST + 70
    return found


def test_what_is_acknowledged_is_what_was_said() -> None:
    sent = side()
    for position, said in ((0, 0), (100, 0), (200, 0), (300, 70), (400, 150)):
        assert sent.said(FIRST + position) == FIRST + said
    assert sent.said(FIRST - 1) == FIRST - 1  # of the SYN
    sent.ended = True
    assert sent.said(FIRST + 401) == FIRST + 151


def test_places_never_go_back() -> None:
    sent = side()
    places = [sent.said(FIRST + position) for position in range(-1, 402)]
    assert places == sorted(places)


def test_a_segment_that_is_sent_again_says_the_same_again() -> None:
    assert side().add(FIRST + 200, 100, ()) == (FIRST, (Content(FIRST, 0, 70),))
    assert side().add(FIRST + 200, 200, ()) == (FIRST, (Content(FIRST, 0, 70), Content(FIRST + 70, 70, 80)))
    first, again = side().add(FIRST + 320, 80, ())
    assert first == FIRST + 90 and again == (Content(FIRST + 90, 90, 60),)


def test_a_probe_says_nothing_and_stands_before_what_comes_next() -> None:
    assert side().add(FIRST + 399, 1, ()) == side().add(FIRST + 399, 0, ()) == (FIRST + 149, ())


def test_what_was_lost_stays_a_hole() -> None:
    sent = side()
    assert sent.add(FIRST + 600, 100, (Content((FIRST + 320) & 0xFFFFFFFF, 150, 70),))[0] == FIRST + 320
    assert sent.said(FIRST + 700) == FIRST + 390
    sent.lose((FIRST + 500) & 0xFFFFFFFF)
    assert sent.add(FIRST + 700, 0, ()) == (FIRST + 500, ())

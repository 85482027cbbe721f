"""Metrics of what is watched, after each answer: to a receiver of OTLP, or as lines of a new file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.text import file_text
from analyzer.query.otlp_metrics import Rising, collected, lines, request
from analyzer.query.otlp_receivers import OtlpError, address, check_library, is_address, post

if TYPE_CHECKING:
    from analyzer.watch.answers import Answer


class OtlpSink:
    """Counts are of the whole run. What a receiver did not take is in the next ones too, so that nothing is sent twice or kept;
    `say` gets a line when it stops taking them, and when it takes them again. Raises OtlpError for a target that cannot be used."""

    def __init__(self, to: str, say: Callable[[str], None]) -> None:
        check_library()
        self._to = to
        self._say = say
        self._rising = Rising()
        self._first_ns: int | None = None
        self._trouble: str | None = None
        if is_address(to):
            address(to)
            return
        try:
            Path(to).open("xb").close()
        except OSError as error:
            raise OtlpError(f"{file_text(to)}: {error.strerror or error}; name a new file") from error

    def take(self, answer: Answer) -> None:
        """Hands on what an answer says."""
        if answer.end_ns is None:
            return
        if self._first_ns is None:
            self._first_ns = answer.begin_ns or 0
        found = self._rising.of(collected(answer.counts.to_pylist()))
        made = request(found, self._first_ns, answer.end_ns)
        trouble = None
        try:
            if is_address(self._to):
                post(self._to, made)
            else:
                with Path(self._to).open("ab") as file:
                    file.writelines(line.encode() for line in lines(made))
        except OSError as error:
            trouble = str(error)
        if trouble != self._trouble:
            self._say(trouble or f"{file_text(self._to)}: metrics are taken again")
        self._trouble = trouble

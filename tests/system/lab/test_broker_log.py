"""What the broker wrote in its request log is what we read in the packets."""

from __future__ import annotations

from itertools import islice

from agreement import exchange_reasons, line_reasons, log_differences, match
from oracle import Capture, read_log
from program import Analyse

# The log's README names these, and no others, for a line without an exchange and for an exchange without a line.
LINE_REASONS = {"forwarded", "edge of the capture"}
EXCHANGE_REASONS = {"envelope", "login", "before a login", "never answered", "edge of the log"}


def test_every_logged_request_is_read_as_the_broker_read_it(logged: Capture, analyse: Analyse) -> None:
    found = match(analyse(logged.files).exchanges, read_log(logged.log))
    assert len(found.pairs) >= logged.fact("matched")
    wrong = (
        f"{line.connection} #{line.correlation_id} key {line.api_key} v{line.api_version}: {difference}"
        for line, row in found.pairs
        for difference in log_differences(line, row)
    )
    assert not list(islice(wrong, 20))


def test_only_what_a_broker_never_logs_is_missing(logged: Capture, analyse: Analyse) -> None:
    found = match(analyse(logged.files).exchanges, read_log(logged.log))
    lines, exchanges = line_reasons(found), exchange_reasons(found)
    assert set(lines) <= LINE_REASONS, lines
    assert set(exchanges) <= EXCHANGE_REASONS, exchanges
    assert lines.total() - lines["forwarded"] == logged.fact("log_not_in_pcap"), lines
    assert exchanges.total() == logged.fact("pcap_not_in_log"), exchanges

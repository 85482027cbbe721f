"""Numbers of the pcap reader: sizes of headers, and what is believed to be a record."""

from __future__ import annotations

FILE_HEADER_BYTES = 24

# The longest packet that is believed: libpcap's limit, and ours for files that claim a larger snap length.
USUAL_CEILING_BYTES = 262_144
HIGHEST_CEILING_BYTES = 16 * 1024 * 1024

# Where a piece of a file begins is guessed by headers that lead from record to record: so many in a row are believed, or this
# smaller number when the known bytes end behind them.
CHAIN = 16
SHORT_CHAIN = 3
DAY_SECONDS = 86_400
NO_END = 1 << 62

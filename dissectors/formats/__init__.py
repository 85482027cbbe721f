"""Capture formats, bytes to packet rows: pcap, pcapng, which of them a file is; nothing here looks into packets.

The order of time (`time_order.py`, `analyzer/inputs/borders.py`):

- Every stage behind the readers sees packets in the order of their times, with their numbers in the file.
  (`--reorder-packets` and `--reorder-time` have nothing to do with this: they say how long a hole in a stream is
  waited for.)
- A packet waits until 4,096 packets or 2 MiB behind it were read; after a long stretch in order 256 packets or 256
  KiB are enough. Its bytes stay in the buffer that `Source.fill` fills. Only rows are copied, and of packets in order
  only those at the end of a block.
- A packet that comes later than this is counted and reported (`late_packets`, `steps_back` of a `Reading`).
- A single packet whose time is more than 2 s ahead of both its neighbours stays where it is in the file: its time is
  wrong.
- A capture in tasks is put in one order too: a packet behind a cut that is earlier than packets before it belongs to
  the piece before. Both pieces read the same bytes around the cut, so they come to the same result without exchanging
  anything.
"""

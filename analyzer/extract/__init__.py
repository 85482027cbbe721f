"""Packets of a capture chosen by what is known of them, written as a capture.

- `extract` reads a capture twice: the tables say which connections are wanted (`extract/choice.py`), then their
  packets are copied as they are (`extract/copying.py`, `dissectors/packet/flow_picker.py`). Connections are copied
  whole, unless `--around` cuts them: ids hash the time of a connection's first packet, and what a request waited for
  depends on those before it. What other connections of the two hosts show about the way is lost. Of a finding so many
  others are included that the rules, asked over a `narrowed` dataset, find the same (`extract/surroundings.py`).
"""

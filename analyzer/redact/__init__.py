"""Captures without what they must not tell: names become pseudonyms, content becomes zeros, sizes and times stay.

- `redact` writes over zeros (`redact/packet_spool.py`): packets get their headers first, and a byte of a payload only
  when a step of a schema wrote it (`message_rewriting.py`), into every packet that holds its position of the stream
  (`streams.py`). So nothing that was not understood can stay. `--verify` redacts the result once more, with
  pseudonyms that change nothing: it must not change. `--decrypt` first makes captures in clear of those with TLS, in
  a temporary folder (`decrypting.py`, `plain_positions.py`), and redacts these: there is one way to an output.
"""

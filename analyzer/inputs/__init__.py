"""Captures to segment rows: finding them, reading and unpacking their bytes, their order; knows nothing of Kafka or of tables.

- Ctrl-C ends standard input (`inputs/standard_input.py`), and the report follows. A second Ctrl-C, or one before the
  first byte, ends the program.
"""

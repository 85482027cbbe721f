"""The command line: one file per command in `commands/`, and what they share beside it."""

"""The command line: a file per command in `commands/`, and what they share; makes no tables and no SQL of its own."""

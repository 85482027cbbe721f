"""One file per command: its name is the verb, its `command` the click command. Heavy imports go inside functions."""

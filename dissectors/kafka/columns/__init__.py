"""Message bodies to columns, compiled; nothing here finds messages in streams."""

"""Single messages read to the last field, with offsets; nothing here knows connections or batches of rows."""

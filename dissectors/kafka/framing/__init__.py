"""Message boundaries in a stream, and which reply belongs to which request; nothing here reads bodies."""

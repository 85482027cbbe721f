"""State of idle connections in few bytes, until they speak again."""

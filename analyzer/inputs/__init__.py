"""Captures to segment rows: finding them, reading and unpacking their bytes, their order; knows nothing of Kafka or of tables."""

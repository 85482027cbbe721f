"""Captures to segment rows: files, storage, compression, order of inputs; knows nothing of Kafka or of tables."""

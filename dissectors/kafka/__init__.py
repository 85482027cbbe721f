"""Kafka: the messages in a stream of bytes; nothing here knows where the bytes come from."""

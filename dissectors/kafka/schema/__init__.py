"""What Kafka messages consist of, by API and version; nothing here reads a message."""

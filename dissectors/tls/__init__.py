"""TLS: which connections use it, and their content where secrets are given; nothing here knows Kafka."""

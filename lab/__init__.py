"""The incident lab: real brokers and clients in network namespaces, things done to them on purpose, captures of it."""

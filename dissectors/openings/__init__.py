"""What comes before Kafka in a stream: PROXY protocol, SOCKS, HTTP CONNECT; read, told, and taken out of the stream."""

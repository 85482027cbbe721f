"""Requests as a timeline for Perfetto: a track for each client and connection, slices for the parts of each request."""

"""Packets of a capture chosen by what is known of them, written as a capture."""

"""Captures that grow while they are read: pipes, files, rings of files, several at once."""

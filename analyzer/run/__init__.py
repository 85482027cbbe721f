"""Captures to a dataset on this machine: chooses how to read them, writes the SQL over raw tables; knows no screen."""

"""Captures to a dataset on this machine: chooses how to read them; knows no screen."""

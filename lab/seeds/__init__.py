"""Runs that nobody wrote: a seed draws what is done, where, how strongly, when and beside whom."""

"""Compares what two checkouts of kanalyze answer: see `tools/compare_checkouts.py`."""

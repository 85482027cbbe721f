"""Incidents, a file each: `run(lab)` does one thing to a cluster at work, and returns what it did."""

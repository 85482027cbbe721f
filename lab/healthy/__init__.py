"""Healthy days, a file each: `run(lab)` lets a cluster work as it should, and returns what that was."""

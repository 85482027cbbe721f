"""Two datasets side by side, and limits that a dataset must keep; knows no screen."""

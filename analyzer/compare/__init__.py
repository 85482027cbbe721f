"""Two datasets side by side, and limits that a dataset must keep; reads metrics and findings only, and knows no screen."""

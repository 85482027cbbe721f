"""Reports as text and JSON, from metrics and findings only; knows neither captures nor the command line."""

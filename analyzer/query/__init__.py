"""Raw tables to answers: final tables, metrics, findings, exports; knows neither captures nor screens."""

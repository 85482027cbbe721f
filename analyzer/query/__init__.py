"""Raw tables to answers: final tables, metrics, findings; knows neither captures nor screens."""

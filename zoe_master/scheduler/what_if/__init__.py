"""Questions to the scheduler that change nothing: explanations, forecasts, dry runs."""

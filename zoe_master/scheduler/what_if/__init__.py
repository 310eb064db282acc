"""Queries to the scheduler without effects: explanations, forecasts, dry runs."""

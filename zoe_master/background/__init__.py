"""Threads beside the loop: forecasts, retention, metrics, activity."""

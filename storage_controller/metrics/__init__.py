"""Metrics that an installation adds for rules."""

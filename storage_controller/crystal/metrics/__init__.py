"""Metrics of rules in both dialects of Crystal."""

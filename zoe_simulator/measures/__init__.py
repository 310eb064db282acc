"""Figures of a run, and their confidence intervals."""

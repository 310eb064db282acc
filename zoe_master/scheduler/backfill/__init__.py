"""Backfill: which executions may pass others, and what running executions give back."""

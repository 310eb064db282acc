"""Answers other than success: codes, and the JSON of problems."""

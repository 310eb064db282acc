"""Checks that refuse a well-formed description, or add notes for its user: one file for each subject."""

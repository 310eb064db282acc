"""Submissions: checked, priced, stored."""

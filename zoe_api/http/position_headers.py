"""Names of the headers of positions."""

WRITTEN, WANTED = "Zoe-Position", "Zoe-No-Older-Than"
POSITION_MAX = 2**63 - 1
"""The largest number that the journal can reach."""

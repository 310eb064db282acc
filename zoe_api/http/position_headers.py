"""Names of the headers with positions in the journal, by which clients read their own writes."""

WRITTEN, WANTED = "Zoe-Position", "Zoe-No-Older-Than"
POSITION_MAX = 2**63 - 1
"""The largest number that the journal can reach."""

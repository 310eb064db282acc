"""The journal, the lead, and who is told of news."""

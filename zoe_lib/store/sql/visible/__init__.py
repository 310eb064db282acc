"""People, shares, secrets, stored applications, and their visibility."""

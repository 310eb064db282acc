"""People, and what belongs to them."""

"""Who may see what: people, shares, and what belongs to them."""

"""Storage as the loop sees it: guarantees, views, places of inputs, and their reconciliation."""

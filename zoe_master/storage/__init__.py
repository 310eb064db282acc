"""The loop's side of storage: guarantees, views, places of inputs, and their reconciliation."""

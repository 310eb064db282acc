"""The controller's tables, its leader election, and the supervision of its loops."""

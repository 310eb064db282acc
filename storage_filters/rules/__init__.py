"""Which filters an object gets, and where they run."""

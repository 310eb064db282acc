"""What lives as long as the process, and what routes are given of it."""

"""The store in memory, for tests and simulation, behind the same interface."""

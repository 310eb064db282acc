"""Filters that people uploaded as WebAssembly, and the bounds within which they run."""

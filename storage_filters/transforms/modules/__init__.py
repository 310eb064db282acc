"""Filters that users uploaded as WebAssembly, and the bounds within which they run."""

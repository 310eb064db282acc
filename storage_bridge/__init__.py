"""The library with which the master talks to a storage controller."""

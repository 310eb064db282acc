"""The library through which the master speaks to a storage controller."""

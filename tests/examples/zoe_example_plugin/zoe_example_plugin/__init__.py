"""An example of a plugin for Zoe; docs/extending.md explains it."""

"""An example of a plugin for Zoe; docs/build/extending.md explains it."""

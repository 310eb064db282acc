"""OpenStack Swift on loopback: an object store with Zoe's filters, for development, tests and demonstrations."""

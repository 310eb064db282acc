"""The images that a swarm runs: what goes into each (`recipes`), and how the `docker` command builds them.

An image carries the hash of everything that went into it as a label, so what is up to date is not built again, and
/etc/zoe-packages, the Debian packages in it with their versions.
"""

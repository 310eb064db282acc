"""Images for a swarm: their inputs (`recipes`), and their build by the `docker` command.

An image has the hash of all its inputs as a label, so an up-to-date one is not built again. Its file /etc/zoe-packages
lists the Debian packages in it with their versions.
"""

"""Environments: the Python packages that components request, installed once for each user and list.

`zoe_master/backends/environments/build.py` is the program that makes one, as its user; `environments` has their paths
and the build processes; `sweep` removes those unused for long.
"""

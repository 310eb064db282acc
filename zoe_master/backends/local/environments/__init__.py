"""Environments: the Python packages that components ask for, installed once for each user and list.

`zoe_master/backends/environments/build.py` is the program that makes one, as its user; `environments` says where they
are and what makes them; `sweep` removes those that nobody has used for long.
"""

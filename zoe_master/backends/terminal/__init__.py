"""Terminals in services: a process for each, between one connection of the API and one program.

Like the supervisor, it runs in a bare interpreter, so it imports the standard library only.
"""

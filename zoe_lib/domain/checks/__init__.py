"""Checks for parts of an application that cannot run on this installation, before it starts: one file for each
subject.
"""

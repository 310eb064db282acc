"""Sources: git repositories that are in the workspace before a component starts.

`clone` is the program that clones them, as their user; `sources` says what it is told.
"""

"""Sources: git repositories cloned into the workspace before a component starts.

`clone` is the program that clones them, as their user; `sources` makes its task.
"""

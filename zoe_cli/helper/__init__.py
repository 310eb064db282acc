"""The resident helper: a process that has imported every command, and forks one child for each call of `zoe`."""

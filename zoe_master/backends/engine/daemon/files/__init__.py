"""Files on nodes: workspaces, volumes, host paths, and files left by containers."""

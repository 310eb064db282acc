"""Files on nodes: workspaces, volumes, host paths, and what containers left."""

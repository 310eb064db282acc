"""Values of a container: its texts, mounts, names, labels and users."""

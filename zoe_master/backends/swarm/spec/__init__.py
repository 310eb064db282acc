"""What is created for a service: names, labels, mounts, the specification. Asks nobody."""

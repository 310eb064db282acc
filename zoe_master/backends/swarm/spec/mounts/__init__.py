"""What a container mounts, and the proof that it may."""

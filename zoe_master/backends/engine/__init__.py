"""One Docker-compatible engine: its containers as services, its images and events, and the files of its machine."""

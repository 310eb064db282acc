"""One Docker-compatible engine of this machine as a back-end."""

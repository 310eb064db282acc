"""SeaweedFS on loopback: an S3 store that nobody here wrote, for tests and to try the gateway before one."""

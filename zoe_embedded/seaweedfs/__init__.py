"""SeaweedFS on loopback: an independent S3 store, for tests and to try the gateway."""

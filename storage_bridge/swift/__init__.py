"""The former names of the factories in `storage_filters`, for proxies configured before 0.2; to be removed in 1.0."""

"""The former name of `storage_controller`, for service definitions made before 0.2; to be removed in 1.0."""

"""The former name of `storage_controller`, for service definitions made before 0.2; it goes in 1.0."""

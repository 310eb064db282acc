"""Routes under `/v1`, the controller's own interface."""

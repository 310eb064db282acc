"""Routes under `/v1`, the own interface of the controller."""

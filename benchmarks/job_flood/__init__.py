"""A job that floods the API with its own token, beside the work of another user."""

"""Names and labels of objects on engines."""

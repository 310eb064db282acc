"""Routes of Crystal's two dialects."""

"""The object store with Zoe's filters: what is promised, what it costs, what it saves."""

"""The founding document's experiments on filters and policies of the object store, scaled to one machine."""

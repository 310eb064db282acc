"""Rules of the object store: the filters of an object, and where they run."""

"""Reports of a run: one JSON file, pictures, and a page that contains all of it."""

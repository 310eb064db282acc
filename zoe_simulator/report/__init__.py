"""Reports of a run: one JSON file, pictures, and a page that holds all of it."""

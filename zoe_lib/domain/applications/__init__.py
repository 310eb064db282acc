"""Applications: components, images, paths, templates, and packing of components onto nodes."""

"""What is submitted: components, images, paths, templates, and how components fit onto nodes."""

"""One Docker Engine: connections, events, images, output."""

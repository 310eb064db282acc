"""What one Docker Engine does and says: connections, events, images, output."""

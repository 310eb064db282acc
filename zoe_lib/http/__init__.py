"""How servers of Zoe read requests, and how Zoe signs in to Swift."""

"""The filters themselves: bytes in, bytes out."""

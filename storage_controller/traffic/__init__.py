"""What proxies and object servers report of requests."""

"""Reports of proxies and object servers about requests."""

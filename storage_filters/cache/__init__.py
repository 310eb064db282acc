"""Object cache of a proxy, and its invalidation by writes through other proxies."""

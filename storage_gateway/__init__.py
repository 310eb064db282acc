"""Gateway: Swift's proxy with Zoe's filters, before a store that does not have them."""

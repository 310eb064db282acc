"""The object store: capacity, rules, filters, metrics, SLOs."""

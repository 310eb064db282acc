"""Objects created for a service: names, labels, mounts, the specification. No requests are made here."""

"""What the queue is sorted by, and whose turn it is: orders, estimates, tenancy, limits."""

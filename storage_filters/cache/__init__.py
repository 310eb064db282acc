"""What a proxy keeps of objects, and how it knows that they were written elsewhere."""

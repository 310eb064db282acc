"""How much bandwidth may be guaranteed, and the servers that enforce it."""

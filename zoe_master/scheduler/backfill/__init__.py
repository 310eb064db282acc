"""Who may pass whom, and what running executions give back."""

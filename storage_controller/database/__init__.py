"""The controller's tables, its lead, and what each loop did."""

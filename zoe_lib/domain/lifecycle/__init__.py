"""What may follow what: the transitions of an execution, and their consequences."""

"""Price lists, and statements of the costs of executions: values and rules, without a database."""

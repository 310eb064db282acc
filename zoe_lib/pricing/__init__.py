"""Price lists, and statements of what executions cost: values and rules, without a database."""

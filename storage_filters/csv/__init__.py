"""Parts of CSV objects: columns, and records that may be wanted."""

"""Files of a tenant in the object store: containers and objects of its account as directories and files."""

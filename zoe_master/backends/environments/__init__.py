"""Programs that fill environments and clone repositories, as the user they are for."""

"""Programs that install packages and clone repositories, as the user of the component."""

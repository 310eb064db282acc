"""How long applications run: learned from ended runs, by what each was given. Pure."""

"""The study of promises: applications that read from a store, through the production loop and through rivals of it."""

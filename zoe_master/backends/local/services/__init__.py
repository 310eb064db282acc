"""One service: what its supervisor runs, how it is started, watched and ended."""

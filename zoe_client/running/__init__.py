"""Results of `Client.run` and `Client.map`."""

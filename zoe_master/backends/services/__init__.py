"""What back-ends share about services: their peers, secrets, failures and kept output."""

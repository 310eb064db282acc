"""Commands of a user's own account: sign-in, tokens, secrets, shares, statements."""

"""The journal, leadership, subscriptions and notifications."""

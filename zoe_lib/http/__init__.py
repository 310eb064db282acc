"""Strict HTTP for Zoe's servers, and Zoe's sign-in to Swift."""

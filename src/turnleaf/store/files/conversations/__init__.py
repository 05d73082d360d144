"""Conversations in SQLite, or in one JSON file."""

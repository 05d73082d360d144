"""Everything of a space in a folder: Markdown and JSON that people read, and SQLite."""

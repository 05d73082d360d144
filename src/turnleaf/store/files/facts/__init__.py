"""Facts in a file that people edit, and the record of its changes."""

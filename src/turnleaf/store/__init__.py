"""What is kept on disk, and the one writer that keeps it."""

"""What a question asks for, and which passages answer it."""

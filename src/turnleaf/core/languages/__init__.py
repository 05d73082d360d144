"""Languages: which one a text is in, and one folder of words and patterns for each that we read."""

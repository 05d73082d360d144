"""Search: what is found, by words, by meaning and by date."""

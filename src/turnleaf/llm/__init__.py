"""What is asked of models, on this machine or behind an address."""

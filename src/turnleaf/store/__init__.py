"""What is kept: contracts for every backend, and the backends."""

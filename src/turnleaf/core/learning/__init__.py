"""Learning: what a message states about its writer, and what becomes of it."""

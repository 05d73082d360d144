"""What other programs export, turned into conversations, memories and notes; pure."""

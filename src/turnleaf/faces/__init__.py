"""The faces translate a protocol into calls of the stores and hold no logic of their own."""

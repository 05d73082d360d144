"""Prompts: what is put into one, and how none of it can pose as the rest."""

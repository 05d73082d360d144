"""The search index: derived from the other files, and disposable."""

"""A backend that keeps everything in memory, for tests and for what nobody needs tomorrow.

A `MemoryPlace` stands for the disk: whoever opens a space of the same one sees the same data.
"""

"""Everything that Turnleaf raises on purpose.

TurnleafError
├── InvalidInput    what was passed in cannot be taken (empty, NUL, not text, a bad name)
├── SettingsError   an environment variable or a key of the config file has a bad value
├── NotFound        there is nothing by that name
├── MemoryFull      MEMORY_MAX_ITEMS or MEMORY_MAX_CHARS would be exceeded
├── LimitReached    a space has used what it may for now
│   └── SpaceFull   a space keeps as much as it may
├── Conflict        somebody else changed it since it was read
├── CorruptFile     a file does not hold what it should
├── StorageError    the disk, the folder or the file did not let us
├── EmbeddingError  the model that turns text into vectors gave none
└── ModelError      the model did not answer, or not as it was asked to
    └── UnreadableAnswer  it answered, and not with the JSON that it was asked for

Each message says what happened and what to do.
"""

__all__ = [
    "Conflict",
    "CorruptFile",
    "EmbeddingError",
    "InvalidInput",
    "LimitReached",
    "MemoryFull",
    "ModelError",
    "NotFound",
    "SettingsError",
    "SpaceFull",
    "StorageError",
    "TurnleafError",
    "UnreadableAnswer",
]


class TurnleafError(Exception):
    """The root of everything below; catch it to catch all."""


class InvalidInput(TurnleafError, ValueError):
    """What was passed in cannot be taken."""


class SettingsError(TurnleafError, ValueError):
    """A setting has a bad value."""


class NotFound(TurnleafError, LookupError):
    """There is nothing by that name."""


class MemoryFull(TurnleafError):
    """There is no room for another fact; `remedy` is the command that would raise the limit."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


class LimitReached(TurnleafError):
    """A space has used what it may; `seconds` later it may again."""

    def __init__(self, message: str, seconds: int | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class SpaceFull(LimitReached):
    """A space keeps as much as it may; waiting helps only once somebody makes room."""

    def __init__(self, message: str, seconds: int = 3600) -> None:
        super().__init__(message, seconds)


class Conflict(TurnleafError):
    """It changed since it was read."""


class CorruptFile(TurnleafError):
    """A file does not hold what it should."""


class StorageError(TurnleafError):
    """The disk, the folder or the file did not let us."""


class EmbeddingError(TurnleafError):
    """The model that turns text into vectors gave none."""


class ModelError(TurnleafError):
    """The model did not answer, or not as it was asked to; `kind` names a failure of its server."""

    def __init__(self, message: str = "", kind: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind


class UnreadableAnswer(ModelError):
    """The model answered, and not with the JSON that it was asked for."""

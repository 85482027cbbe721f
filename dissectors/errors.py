"""What can be wrong with bytes. Each error says where in the message, at which byte, what was wanted and what was there."""

from __future__ import annotations


class DissectError(Exception):
    """Base of all errors that bytes can cause.

    `path` is the field in Apache's names ("topics[3].partitions[0].error_code"), empty at the top; `offset` counts bytes
    from the start of what was given; `wanted` and `got` are short phrases for a person.
    """

    kind = "error"

    def __init__(self, path: str, offset: int, wanted: str, got: str) -> None:
        super().__init__(f"{path or 'message'} at byte {offset}: expected {wanted}, got {got}")
        self.path = path
        self.offset = offset
        self.wanted = wanted
        self.got = got

    def __reduce__(self) -> tuple[type[DissectError], tuple[str, int, str, str]]:
        """The message alone, which is what pickle takes by itself, makes no error again."""
        return type(self), (self.path, self.offset, self.wanted, self.got)


class Truncated(DissectError):
    """The bytes end before the value does."""

    kind = "truncated"


class Malformed(DissectError):
    """The bytes are there, but no value of the wanted type is written like this."""

    kind = "malformed"


class Unsupported(DissectError):
    """An API key or version that no schema of ours knows: never guessed."""

    kind = "unsupported"


class Limited(DissectError):
    """Nothing is wrong, but it is more than we keep."""

    kind = "limit"

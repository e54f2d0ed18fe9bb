"""Almost valid inputs: random mutations of a parser's corpus."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

_WORDS = (
    b"nan",
    b"-inf",
    b"1e400",
    b"9" * 30,
    b"-1",
    b"",
    b"\0",
    b"[",
    b"{",
    b"*a",
    b"&a",
    b": ",
    b"- ",
    b"!!int ",
    b";",
)


def mutated(kept: Sequence[bytes], seed: int, count: int, longest: int = 4096) -> Iterator[bytes]:
    """Yield `count` inputs with up to four changes each; the same seed gives the same inputs."""
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(kept))
        for _ in range(chance.randrange(5)):
            at = chance.randrange(len(data) + 1)
            match chance.randrange(6):
                case 0:
                    del data[at:]
                case 1:
                    del data[at : at + chance.randrange(1, 20)]
                case 2:
                    data[at:at] = chance.randbytes(chance.randrange(1, 5))
                case 3:
                    data[at : at + chance.randrange(9)] = chance.choice(_WORDS)
                case 4:
                    other = chance.choice(kept)
                    start = chance.randrange(len(other) + 1)
                    data[at:at] = other[start : start + chance.randrange(40)]
                case _ if at < len(data):
                    data[at] ^= 1 << chance.randrange(8)
        yield bytes(data[:longest])

"""Mutated frames of ArduPilot, and garbage."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ardupilot_frames import servo_frame


def mutated_frames(seed: int, number: int) -> Iterator[bytes]:
    """Yield `number` datagrams, valid and spoilt in every way; the same seed gives the same datagrams."""
    chance = random.Random(seed)
    spoil = (_flipped, _cut, _extended, _with_other_head, _overwritten, _noise, _doubled, _good, _good)
    count = 0
    for _ in range(number):
        count += chance.choice((1, 1, 1, 1, 0, 2, -1, chance.randrange(-(2**31), 2**31)))
        pwm = chance.choices((0, 1000, 1500, 2000, 65535), k=chance.choice((16, 32)))
        frame = servo_frame(chance.choice((400, 1200, 1, 65535)), count % 2**32, pwm)
        yield chance.choice(spoil)(frame, chance)


def _good(frame: bytes, chance: random.Random) -> bytes:
    return frame


def _flipped(frame: bytes, chance: random.Random) -> bytes:
    spoilt = bytearray(frame)
    for _ in range(chance.randrange(1, 9)):
        spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
    return bytes(spoilt)


def _cut(frame: bytes, chance: random.Random) -> bytes:
    return frame[: chance.randrange(len(frame))]


def _extended(frame: bytes, chance: random.Random) -> bytes:
    return frame + chance.randbytes(chance.choice((1, 2, 32, 1400)))


def _with_other_head(frame: bytes, chance: random.Random) -> bytes:
    magic = chance.choice((b"\x1a\x48", b"\x81\x73", b"\x48\x1a", b"\0\0", b"\xff\xff"))
    rate = chance.choice((b"\0\0", b"\1\0", b"\xff\xff"))
    return magic + rate + frame[4:]


def _overwritten(frame: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(frame))
    return (frame[:start] + chance.randbytes(len(frame)))[: len(frame)]


def _noise(frame: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice((0, 1, 7, 8, 40, 72, 200)))


def _doubled(frame: bytes, chance: random.Random) -> bytes:
    return frame + frame

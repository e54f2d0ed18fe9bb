"""Fast coding of tf2_msgs/TFMessage for a fixed set of frames."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import EPOCH, NANOSECONDS

if TYPE_CHECKING:
    from tf2_msgs.msg import TFMessage

_ENCAPSULATION = b"\x00\x01\x00\x00"


def tf_message_type() -> type[TFMessage]:
    """Message type of /tf.

    Raises:
        ParameterError: tf2_msgs is not installed.
    """
    try:
        from tf2_msgs.msg import TFMessage
    except ImportError as error:
        raise ParameterError(
            f"tf2_msgs, the message of /tf, is not installed ({error}); with a ROS 2 distribution it is the package "
            "ros-DISTRO-tf2-msgs, without one `pip install ./tf2_msgs` in this project's folder builds it"
        ) from error
    return TFMessage


class TransformWire:
    """Encodes the transforms of a fixed set of frames, all with one stamp."""

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        """Prepare the layout (plain CDR, see `wire.py`) for pairs of parent and child frame."""
        # Encapsulation, number of transforms; then of each: stamp, two names, seven numbers.
        parts, offset = ["<4sI"], 4
        names: list[tuple[object, ...]] = []
        for frame in frames:
            texts = [name.encode() + b"\x00" for name in frame]
            layout = f"{-offset % 4}xiI"
            offset += -offset % 4 + 8
            for text in texts:
                layout += f"{-offset % 4}xI{len(text)}s"
                offset += -offset % 4 + 4 + len(text)
            layout += f"{-offset % 8}x7d"
            offset += -offset % 8 + 56
            parts.append(layout)
            names.append((len(texts[0]), texts[0], len(texts[1]), texts[1]))
        self._pack = struct.Struct("".join(parts)).pack
        self._names = names

    def encode(self, time_ns: int, transforms: Sequence[Sequence[float]]) -> bytes:
        """Serialised message; each transform is position x y z (m) and attitude x y z w of a frame in its parent."""
        stamp = divmod(time_ns + EPOCH.ns, NANOSECONDS)
        values: list[object] = []
        for names, transform in zip(self._names, transforms, strict=True):
            values += (*stamp, *names, *transform)
        return self._pack(_ENCAPSULATION, len(self._names), *values)

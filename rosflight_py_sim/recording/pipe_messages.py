"""What goes through the pipe to the process that writes a recording: frames of a header and a serialised message.

A frame on channel 0 holds JSON, the description of a channel, which goes before the channel's first message.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

FRAME = struct.Struct("<HQI")
"""Number of the channel, system time of the message (ns since 1970), length of what follows."""

DESCRIPTIONS = 0
"""Channel of the frames that describe channels."""


@dataclass(frozen=True)
class Channel:
    """One topic, from one side.

    Attributes:
        topic: its full name.
        type_name: as `package/msg/Name`.
        definition: the type's text with those of all types within, as MCAP's ros2msg has it.
        type_hash: of the type, as ROS 2 gives it; empty: not known.
        offered_qos: what the publishers offer, in rosbag2's YAML.
        stamped: whether the messages begin with a std_msgs/Header.
        echo: whether the topic is recorded at some of its publishers, and this channel hears what they say again.
    """

    topic: str
    type_name: str
    definition: str
    type_hash: str = ""
    offered_qos: str = ""
    stamped: bool = False
    echo: bool = False

"""Text protocol of uThere Ground Control: commands of client programs, and replies.

Source: uThere, Interfacing with Ground Control via UDP / TCP. docs/uthere.md lists the decisions where that page is
ambiguous.
"""

from __future__ import annotations

from rosflight_py_sim.protocols import ProtocolError
from rosflight_py_sim.protocols.uthere.commands import (
    Command,
    DataClear,
    DataPause,
    DataRemove,
    DataRequest,
    DataResume,
    Fly,
    FlyDisengage,
    FlyEngage,
    FlyTo,
    FlyToWaypoint,
    RequestClientIpList,
    RequestPlaneList,
    WaypointAdd,
    WaypointClearAll,
)
from rosflight_py_sim.protocols.uthere.parser import MOST_COMMANDS, parse_packet, text_of
from rosflight_py_sim.protocols.uthere.replies import (
    LARGEST_ERROR,
    LARGEST_REPLY,
    ClientIpList,
    Data,
    DataAll,
    ErrorReply,
    PlaneList,
    Reply,
    client_ip_list_text,
    data_all_texts,
    data_text,
    error_text,
    parse_reply,
    plane_list_text,
)
from rosflight_py_sim.protocols.uthere.syntax import UthereError

__all__ = [
    "LARGEST_ERROR",
    "LARGEST_REPLY",
    "MOST_COMMANDS",
    "ClientIpList",
    "Command",
    "Data",
    "DataAll",
    "DataClear",
    "DataPause",
    "DataRemove",
    "DataRequest",
    "DataResume",
    "ErrorReply",
    "Fly",
    "FlyDisengage",
    "FlyEngage",
    "FlyTo",
    "FlyToWaypoint",
    "PlaneList",
    "ProtocolError",
    "Reply",
    "RequestClientIpList",
    "RequestPlaneList",
    "UthereError",
    "WaypointAdd",
    "WaypointClearAll",
    "client_ip_list_text",
    "data_all_texts",
    "data_text",
    "error_text",
    "parse_packet",
    "parse_reply",
    "plane_list_text",
    "text_of",
]

"""Messages of MAVLink's common dialect that several dialects have, without their ids; see `Layouts.message`."""

from __future__ import annotations

from typing import NamedTuple

from rosflight_py_sim.protocols.mavlink.layout import U8, U16, U32

MAVLINK_VERSION = 3
"""Value of `mavlink_version`."""


class Heartbeat(NamedTuple):
    """Sign of life, once a second in both directions."""

    type: U8
    autopilot: U8 = 0
    base_mode: U8 = 0
    custom_mode: U32 = 0
    system_status: U8 = 0
    mavlink_version: U8 = MAVLINK_VERSION


class RcChannels(NamedTuple):
    """Pulse widths of the transmitter's channels, us."""

    time_boot_ms: U32
    chancount: U8
    chan1_raw: U16
    chan2_raw: U16
    chan3_raw: U16
    chan4_raw: U16
    chan5_raw: U16
    chan6_raw: U16
    chan7_raw: U16
    chan8_raw: U16
    chan9_raw: U16 = 0
    chan10_raw: U16 = 0
    chan11_raw: U16 = 0
    chan12_raw: U16 = 0
    chan13_raw: U16 = 0
    chan14_raw: U16 = 0
    chan15_raw: U16 = 0
    chan16_raw: U16 = 0
    chan17_raw: U16 = 0
    chan18_raw: U16 = 0
    rssi: U8 = 0

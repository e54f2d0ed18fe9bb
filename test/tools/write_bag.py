"""Write test/data/other_recorder.mcap: ten seconds of a circle, recorded by another program than ours (rosbags).

Run from the project's folder: `.venv/bin/python test/tools/write_bag.py`. Truth and pulse widths are at 50 Hz, with
half a second missing from 6 s on. The file also has a topic of a type unknown to the simulator.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

ROOT = Path(__file__).parents[2]
FILE = ROOT / "test" / "data" / "other_recorder.mcap"

RATE_HZ, SECONDS, RADIUS_M, SPEED_MPS, HEIGHT_M = 50, 10, 8.0, 4.0, 12.0
MISSING = (6.0, 6.5)
BEGAN_NS = 1_700_000_000 * 10**9


def main() -> None:
    """Write the file."""
    store = get_typestore(Stores.ROS2_JAZZY)
    for name in ("SimState", "PwmOutput"):
        text = (ROOT / "rosflight_msgs" / "msg" / f"{name}.msg").read_text(encoding="utf-8")
        store.register(get_types_from_msg(text, f"rosflight_msgs/msg/{name}"))
    store.register(get_types_from_msg("string keeper\nfloat64[] hours\n", "lighthouse_msgs/msg/Watch"))
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / "bag"
        writer = Writer(bag, version=9, storage_plugin=StoragePlugin.MCAP)
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with writer:
            _write(writer, store)
        (made,) = bag.glob("*.mcap")
        shutil.copy(made, FILE)
    print(f"{FILE.relative_to(ROOT)}: {FILE.stat().st_size} bytes")


def _write(writer: Writer, store: Any) -> None:
    types = store.types
    truth = writer.add_connection("/kite/sim/truth_state", "rosflight_msgs/msg/SimState", typestore=store)
    pwm = writer.add_connection("/kite/sim/pwm_output", "rosflight_msgs/msg/PwmOutput", typestore=store)
    watch = writer.add_connection("/watch", "lighthouse_msgs/msg/Watch", typestore=store)
    for number in range(RATE_HZ * SECONDS):
        time_s = number / RATE_HZ
        stamp_ns = BEGAN_NS + number * 10**9 // RATE_HZ
        if number % RATE_HZ == 0:
            message = types["lighthouse_msgs/msg/Watch"](keeper="Ida", hours=np.array([time_s, 2.0]))
            writer.write(watch, stamp_ns, store.serialize_cdr(message, watch.msgtype))
        if MISSING[0] <= time_s < MISSING[1]:
            continue
        header = types["std_msgs/msg/Header"](
            stamp=types["builtin_interfaces/msg/Time"](sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9),
            frame_id="NED",
        )
        writer.write(truth, stamp_ns, store.serialize_cdr(_state(types, header, time_s), truth.msgtype))
        values = np.full(14, 1000, np.uint16)
        values[2] = 1500 + round(400 * math.sin(time_s))
        out = types["rosflight_msgs/msg/PwmOutput"](header=header, values=values)
        writer.write(pwm, stamp_ns, store.serialize_cdr(out, pwm.msgtype))


def _state(types: Any, header: Any, time_s: float) -> Any:
    vector, angle = types["geometry_msgs/msg/Vector3"], SPEED_MPS / RADIUS_M * time_s
    heading = angle + 0.5 * math.pi
    return types["rosflight_msgs/msg/SimState"](
        header=header,
        pose=types["geometry_msgs/msg/Pose"](
            position=types["geometry_msgs/msg/Point"](
                x=RADIUS_M * math.cos(angle), y=RADIUS_M * math.sin(angle), z=-HEIGHT_M
            ),
            orientation=types["geometry_msgs/msg/Quaternion"](
                x=0.0, y=0.0, z=math.sin(0.5 * heading), w=math.cos(0.5 * heading)
            ),
        ),
        twist=types["geometry_msgs/msg/Twist"](
            linear=vector(x=SPEED_MPS, y=0.0, z=0.0), angular=vector(x=0.0, y=0.0, z=SPEED_MPS / RADIUS_M)
        ),
        acceleration=types["geometry_msgs/msg/Accel"](
            linear=vector(x=0.0, y=SPEED_MPS**2 / RADIUS_M, z=0.0), angular=vector(x=0.0, y=0.0, z=0.0)
        ),
    )


if __name__ == "__main__":
    main()

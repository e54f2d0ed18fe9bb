"""A minimal ArduPilot that sends frames and waits for the answers, as fast as possible; used by `ardupilot.py`.

    python -m benchmarks.lean_ardupilot PORT FRAME_RATE SECONDS

A separate process, so that its Python does not compete with the simulator's. It ignores the content of answers. It
prints frames per second and the times from frame to answer (us) as JSON, and then continues until it is ended.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from array import array

from rosflight_py_sim.ground.stamps import NANOSECONDS

MAGIC = 18458
CHANNELS = 16
RESEND_S = 1.1
WARM_UP_S = 3.0

# Time in which nodes start, and compile kernels if necessary.
START_UP_S = 90.0


def main() -> None:
    """Measure."""
    port, frame_rate, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    frame = bytearray(struct.pack(f"<HHI{CHANNELS}H", MAGIC, frame_rate, 0, *[1000] * CHANNELS))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as conversation:
        conversation.connect(("127.0.0.1", port))
        conversation.settimeout(RESEND_S)
        count, _ = exchange(conversation, frame, 0, 1, START_UP_S)
        count, _ = exchange(conversation, frame, count, 1 << 30, WARM_UP_S)
        began_s = time.monotonic()
        end, times_ns = exchange(conversation, frame, count, 1 << 30, seconds)
        elapsed_s = time.monotonic() - began_s
        waits_us = sorted(ns * 1e-3 for ns in times_ns)
        figures = {
            "rate": (end - count) / elapsed_s,
            "p50_us": waits_us[len(waits_us) // 2],
            "p99_us": waits_us[len(waits_us) * 99 // 100],
        }
        print(json.dumps(figures), flush=True)
        # Otherwise the simulator would wait for a frame and not notice a request to end.
        exchange(conversation, frame, end, 1 << 30, START_UP_S)


def exchange(
    conversation: socket.socket, frame: bytearray, count: int, most: int, seconds: float
) -> tuple[int, array[int]]:
    """Exchange `count` frames, or for a duration; return the next count, and the time from frame to answer, ns."""
    times_ns = array("q")
    send, receive, clock = conversation.send, conversation.recv, time.perf_counter_ns
    end_ns = clock() + int(seconds * NANOSECONDS)
    began = clock()
    while most and began < end_ns:
        struct.pack_into("<I", frame, 4, count)
        began = clock()
        send(frame)
        try:
            receive(4096)
        except (TimeoutError, ConnectionRefusedError):
            # The simulator is not ready yet, or the frame was lost: send it again.
            time.sleep(0.05)
            continue
        times_ns.append(clock() - began)
        count += 1
        most -= 1
    return count, times_ns


if __name__ == "__main__":
    main()

"""An ArduPilot that does nothing but send frames and wait for the answers, as fast as they come: for `ardupilot.py`.

    python -m benchmarks.lean_ardupilot PORT FRAME_RATE SECONDS

A process of its own, so that its Python does not stand in the way of the simulator's. It looks at no answer. It prints
frames per second and the times from frame to answer (us) as JSON, and then goes on until it is ended.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from array import array

MAGIC = 18458
CHANNELS = 16
RESEND_S = 1.1
WARM_UP_S = 3.0

# In which nodes start, and compile what has not been compiled before.
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
        # Or the simulator would wait for it before it looks whether to end.
        exchange(conversation, frame, end, 1 << 30, START_UP_S)


def exchange(
    conversation: socket.socket, frame: bytearray, count: int, most: int, seconds: float
) -> tuple[int, array[int]]:
    """Exchange so many frames, or for so long; the next count, and the time from each frame to its answer, ns."""
    times_ns = array("q")
    send, receive, clock = conversation.send, conversation.recv, time.perf_counter_ns
    end_ns = clock() + int(seconds * 1e9)
    began = clock()
    while most and began < end_ns:
        struct.pack_into("<I", frame, 4, count)
        began = clock()
        send(frame)
        try:
            receive(4096)
        except (TimeoutError, ConnectionRefusedError):
            # Nobody is there yet, or the frame was lost: it is sent again.
            time.sleep(0.05)
            continue
        times_ns.append(clock() - began)
        count += 1
        most -= 1
    return count, times_ns


if __name__ == "__main__":
    main()

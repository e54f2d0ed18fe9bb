"""Hold depth and heading through the naus client, as a user's program would, in a separate process.

    python auv_pilot.py DEPTH HEADING SPEED

DEPTH in m, HEADING in deg, SPEED of the simulation relative to the wall clock. Runs until a signal ends it.
"""

from __future__ import annotations

import sys
import time

import naus

# Percent of full thrust per metre and per m/s, and to counter the buoyancy.
P_DEPTH, D_DEPTH, BUOYANCY = 150.0, 150.0, 4.0
# Percent of full thrust per degree and per deg/s.
P_HEADING, D_HEADING = 0.6, 0.4
PERIOD_S = 0.02


def clamped(power: float) -> int:
    return round(max(-100.0, min(100.0, power)))


def main() -> None:
    depth, heading, speed = (float(word) for word in sys.argv[1:])
    auv = naus.AUV(0)
    before = auv.get_telemetry()
    before_s = time.monotonic()
    print("flying", flush=True)
    while True:
        time.sleep(PERIOD_S)
        now, now_s = auv.get_telemetry(), time.monotonic()
        if now == before:
            continue
        elapsed = (now_s - before_s) * speed
        climb = (now.z - before.z) / elapsed
        turn = ((now.yaw - before.yaw + 180.0) % 360.0 - 180.0) / elapsed
        ahead = (heading - now.yaw + 180.0) % 360.0 - 180.0
        yaw = P_HEADING * ahead - D_HEADING * turn
        up = -P_DEPTH * (depth + now.z) - D_DEPTH * climb - BUOYANCY
        auv.set_motor_powers(left=clamped(yaw), right=clamped(-yaw), side=0, vertical=clamped(up))
        before, before_s = now, now_s


if __name__ == "__main__":
    main()

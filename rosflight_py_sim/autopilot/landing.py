"""Landing of a fixed wing: glide slope, aim point and exponential flare."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rosflight_py_sim.autopilot.setpoint import Vector3


@dataclass(frozen=True)
class Landing:
    """Straight final approach, flare and touch-down.

    Attributes:
        position_ned: position of the vehicle at the planned touch-down, m.
        course: direction of the runway, rad from north towards east.
        glide_slope: angle of the final approach below the horizontal, rad.
        airspeed: airspeed from the end of the circuit to the flare, m/s.
        height: height above the origin at which the final approach begins, m; None: that at which the circuit ends.
        flare_height: height above the touch-down point at which the flare begins, m.
        sink_rate: sink rate commanded at the touch-down, m/s.
    """

    position_ned: Vector3
    course: float
    glide_slope: float
    airspeed: float
    height: float | None = None
    flare_height: float = 3.0
    sink_rate: float = 0.4

    @property
    def glide_sink(self) -> float:
        """Sink rate on the glide slope in calm air, m/s."""
        return self.airspeed * math.sin(self.glide_slope)

    def along(self, distance: float, down: float) -> Vector3:
        """Point of the runway's centre line, a distance (m) beyond the touch-down point, with this down coordinate."""
        north, east, _ = self.position_ned
        return (north + distance * math.cos(self.course), east + distance * math.sin(self.course), down)

    def height_above(self, position_ned: Vector3) -> float:
        """Height above the touch-down point, m."""
        return self.position_ned[2] - position_ned[2]

    def flare_sink(self, height: float, initial: float) -> float:
        """Sink rate of the flare (m/s) at a height above the touch-down point (m); `initial` is that at its beginning.

        The sink rate falls linearly with the height, which makes the descent exponential in time (Stevens, Lewis and
        Johnson, Aircraft Control and Simulation, 3rd ed., 2015, sec. 4.6), towards a level below the runway:

            -h' = w_1 + (w_0 - w_1) h / h_f

        with the sink rates w_0 at the flare height h_f and w_1 at the touch-down.
        """
        share = min(max(height / self.flare_height, 0.0), 1.0)
        return self.sink_rate + max(initial - self.sink_rate, 0.0) * share

    @property
    def aim_ned(self) -> Vector3:
        """Point at which the glide slope meets the height of the touch-down, m.

        In calm air the flare is flown in the time h_f / (w_0 - w_1) ln(w_0 / w_1), at the airspeed of the approach.
        The glide slope aims short by the distance that the flare adds.
        """
        time_s = self.flare_height / (self.glide_sink - self.sink_rate) * math.log(self.glide_sink / self.sink_rate)
        flare = self.airspeed * math.cos(self.glide_slope) * time_s
        return self.along(self.flare_height / math.tan(self.glide_slope) - flare, self.position_ned[2])

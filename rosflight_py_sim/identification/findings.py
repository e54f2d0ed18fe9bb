"""What flight logs show about a vehicle: in flight, at rest, and about its battery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rosflight_py_sim.identification.battery_fit import BatteryFit
from rosflight_py_sim.identification.estimates import Estimated, Refused
from rosflight_py_sim.identification.identification import Identification
from rosflight_py_sim.identification.rest_noise import RestNoise


class Findings(NamedTuple):
    """Results by part; None for a part that was not asked for.

    Attributes:
        flight: forces and dynamics.
        rest: noise of the IMU.
        battery: the battery.
    """

    flight: Identification | None
    rest: RestNoise | None
    battery: BatteryFit | None

    @property
    def estimates(self) -> Sequence[Estimated]:
        """All estimates."""
        return [one for part in self if part is not None for one in part.estimates]

    @property
    def refused(self) -> Sequence[Refused]:
        """All parameters that the logs do not show."""
        return [one for part in self if part is not None for one in part.refused]

    @property
    def facts(self) -> Sequence[str]:
        """Further results and notes, as sentences."""
        facts: list[str] = []
        if (flight := self.flight) is not None:
            before, after = (
                100.0 * float(np.nanmean(flight.held_out.errors(one)))
                for one in (flight.held_out.before, flight.held_out.after)
            )
            facts += [
                *flight.notes,
                f"errors in stretches not used in the fit: {before:.1f} % before, {after:.1f} % after",
            ]
        if (rest := self.rest) is not None:
            first_s, last_s = rest.rest_s
            facts.append(f"at rest from {first_s:.0f} to {last_s:.0f} s of the log")
            facts += [
                f"bias instability of the {name}: {one.bias_instability:.3g} (at least {one.clusters[-1]:.0f} clusters)"
                for name, one in rest.allan.items()
            ]
        if (battery := self.battery) is not None:
            facts.append(
                f"charge drawn from the battery, which counts as full at the begin: {battery.drawn_mah:.0f} mA h"
            )
        return facts

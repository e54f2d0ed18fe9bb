"""Flight model: an aircraft of the JSBSim library replaces forces_and_moments and dynamics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.unmixing import unmixer_of_parameters
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value, number
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.shared_parameters import (
    ORIGIN_ALTITUDE,
    ORIGIN_LATITUDE,
    ORIGIN_LONGITUDE,
    SEED,
    WIND_STREAM,
)
from rosflight_py_sim.parts.flight_model import FlightModel
from rosflight_py_sim.physics.fixedwing import direct_mixer
from rosflight_py_sim.physics.ignored_wind import ignored_wind
from rosflight_py_sim.physics.jsbsim_aircraft import JSBSIM_PARAMETERS, JsbsimAircraft
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind, with_model_parameters
from rosflight_py_sim.shapes.airframes import high_wing
from rosflight_py_sim.vehicles.physics_model import Shape, VehicleClass

_SUPPLY = ParameterTable(
    Parameter(
        "supply_voltage",
        14.0,
        "Voltage of the aircraft's bus, which feeds the flight controller",
        "V",
        minimum=0.0,
        maximum=1e3,
    ),
    Parameter(
        "supply_current", 5.0, "Current that the flight controller and the servos draw", "A", minimum=0.0, maximum=1e4
    ),
)


class JsbsimFlight(FlightModel):
    """Simulates a JSBSim aircraft, with JSBSim's engine, landing gear and round earth and this package's wind."""

    ALIASES: ClassVar[tuple[str, ...]] = ("jsbsim_dynamics", "standalone_dynamics")
    PARAMETERS: ClassVar[ParameterTable] = (
        FlightModel.PARAMETERS
        + ParameterTable(SEED, ORIGIN_LATITUDE, ORIGIN_LONGITUDE, ORIGIN_ALTITUDE)
        + JSBSIM_PARAMETERS
        + _SUPPLY
        + WIND_PARAMETERS
    )
    VEHICLE_CLASS: ClassVar[VehicleClass] = VehicleClass.FIXED_WING
    APPEARANCES: ClassVar[Mapping[str, Shape]] = {**FlightModel.APPEARANCES, "high_wing": high_wing}

    def initialise(self) -> None:
        """Set the state before the first configuration."""
        super().initialise()
        self._aircraft: JsbsimAircraft | None = None
        self._wind: Wind | None = None
        self._mixer = direct_mixer()

    @classmethod
    def table_for(cls, given: Mapping[str, Any]) -> ParameterTable:
        """Add the parameters of the chosen wind models."""
        return with_model_parameters(cls.PARAMETERS, given)

    def configure(self, values: dict[str, Value]) -> None:
        """Rebuild the wind, which takes over the state of the old one; build the aircraft at the start."""
        wind = Wind(values, np.random.default_rng([int(number(values, "seed")), WIND_STREAM]))
        aircraft = self._aircraft or JsbsimAircraft(values)
        if self._wind is not None:
            wind.adopt(self._wind)
        else:
            wind.step(aircraft.truth, 0.0)
        aircraft.set_brake_throttle(number(values, "brake_throttle"))
        aircraft.set_wind(wind.wind_ned)
        self._aircraft, self._wind = aircraft, wind
        self._supply = number(values, "supply_voltage"), number(values, "supply_current")

    @property
    def aircraft(self) -> JsbsimAircraft:
        """The aircraft; available after the first `configure`."""
        assert self._aircraft is not None
        return self._aircraft

    @property
    def wind(self) -> Wind:
        """The wind; available after the first `configure`."""
        assert self._wind is not None
        return self._wind

    def fly(self, pwm_us: NDArray[np.float64], dt: float) -> None:
        """Advance aircraft and wind."""
        aircraft, wind = self.aircraft, self.wind
        mixer = self._mixer
        aircraft.set_controls(*(mixer[:, :OUTPUTS] @ pwm_us + mixer[:, OUTPUTS]).tolist())
        aircraft.step(dt)
        wind.step(aircraft.truth, dt)
        aircraft.follow_wind(self.with_front(wind.wind_ned, dt))

    def compute_truth(self) -> NDArray[np.float64]:
        """Truth vector of the aircraft."""
        return self.aircraft.truth

    def compute_wind_truth(self) -> NDArray[np.float64]:
        """Wind at the aircraft."""
        return self.aircraft.wind_ned

    def compute_forces_and_torques(self) -> NDArray[np.float64]:
        """Wrench of aerodynamics and propulsion."""
        return self.aircraft.wrench()

    def compute_battery(self) -> tuple[float, float]:
        """Voltage (V) and current (A) of the bus that the alternator feeds; the engine burns fuel."""
        return self._supply

    def ignored_parameters(self) -> Iterable[str]:
        """Wind parameters that others switch off."""
        return ignored_wind(self.values, self.given)

    def set_sim_state(self, truth: NDArray[np.float64]) -> None:
        """Set the state of the aircraft; its engine keeps running."""
        self.aircraft.set_truth(truth)

    def start_over(self) -> None:
        """Return the aircraft to its start, with the engine idling; the wind continues."""
        self.aircraft.start_over()

    def get_firmware_parameters(self) -> None:
        """Set the mixing of the surfaces from the primary mixer."""
        try:
            self._mixer = unmixer_of_parameters(self.firmware_parameters)
        except KeyError as error:
            self.log.warning(f"the flight controller has no parameter {error}: the surfaces keep the previous mixer")

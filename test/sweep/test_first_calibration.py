"""Each shipped vehicle stands in equilibrium with its default wind, so that its first calibration passes."""

import pytest

from rosflight_py_sim.firmware.imu_calibration import CALIBRATION_SAMPLES
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.sweep.pipeline_flight import PipelineFlight
from rosflight_py_sim.vehicles import vehicle

# The pilot calls for the calibration when the first status has arrived.
STEPS = CALIBRATION_SAMPLES + 20

VEHICLES = ["multirotor", "hexarotor", "octorotor", "fixedwing", "anaconda", "aerosonde"]

# The seeds among the first 100 with the strongest gusts at the start, which move the anaconda most.
STRONGEST = [19, 23, 39, 51, 84, 91]


@pytest.mark.parametrize(
    ("name", "seed"),
    [*((name, seed) for name in VEHICLES for seed in range(2)), *(("anaconda", seed) for seed in STRONGEST)],
)
def test_first_calibration_in_the_default_wind_passes(name: str, seed: int) -> None:
    member = Member(vehicle(name))
    files = [str(member.vehicle.weather_file)]
    flight = PipelineFlight(member, parameter_sources([member], files=files, weakest={}, settings={"seed": seed}))
    parameters = flight.board.firmware.parameters
    for _ in range(STEPS):
        flight.pipeline.step()
    assert parameters["ACC_X_BIAS"] != 0.0

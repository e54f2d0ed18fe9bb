"""JSBSim with our frames and units: the c172p of its package, and the conversions in both directions."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("jsbsim")

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.physics.jsbsim_aircraft import (
    FOOT,
    FOOT_POUND,
    JSBSIM_PARAMETERS,
    POUND_FORCE,
    SLUG,
    JsbsimAircraft,
    radii_of_curvature,
)
from rosflight_py_sim.physics.jsbsim_files import aircraft_file, aircraft_names, jsbsim_module
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_body, rotate_to_inertial
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.sensing.site import SITE_PARAMETERS

STEP = 1.0 / 800.0
EARTH_RATE = 7.292115e-5


def aircraft(**values: Any) -> JsbsimAircraft:
    return JsbsimAircraft({**JSBSIM_PARAMETERS.defaults(), **SITE_PARAMETERS.defaults(), **values})


def in_flight(height: float = 300.0, speed: float = 50.0, yaw: float = 0.4) -> NDArray[np.float64]:
    truth = np.zeros(19)
    truth[:3] = 120.0, -80.0, -height
    truth[3:7] = quaternion_from_euler(0.1, 0.05, yaw)
    truth[7:10] = speed, 0.5, 1.5
    truth[10:13] = 0.01, -0.02, 0.03
    return truth


def velocity_ned(truth: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array(rotate_to_inertial(*truth[3:7].tolist(), *truth[7:10].tolist()))


def acceleration_ned(truth: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array(rotate_to_inertial(*truth[3:7].tolist(), *truth[13:16].tolist()))


@pytest.fixture(scope="module")
def flown() -> JsbsimAircraft:
    """One aircraft for all tests that start by setting the state."""
    return aircraft()


def test_unit_constants_match_their_definitions() -> None:
    assert FOOT == 0.3048
    # A pound of mass, 0.45359237 kg, weighs a pound of force in standard gravity.
    assert pytest.approx(0.45359237 * 9.80665, rel=1e-15) == POUND_FORCE
    assert pytest.approx(0.45359237 * 9.80665 / 0.3048, rel=1e-15) == SLUG
    assert pytest.approx(FOOT * POUND_FORCE, rel=1e-15) == FOOT_POUND


def test_vehicle_at_rest_stays_at_rest_and_measures_one_g() -> None:
    parked = aircraft()
    np.testing.assert_array_equal(parked.truth, parked.initial_truth)
    # Latitudes in radians resolve a nanometre.
    np.testing.assert_allclose(parked.truth[:2], 0.0, atol=1e-8)
    for _ in range(400):
        parked.step(0.0025)
    # Chocks hold it to the rounding of positions on the earth.
    np.testing.assert_allclose(parked.truth[:3], parked.initial_truth[:3], atol=1e-5)
    np.testing.assert_allclose(parked.truth[7:19], 0.0, atol=1e-5)
    force = np.array([parked.property(f"forces/fb{axis}-total-lbs") for axis in "xyz"]) * POUND_FORCE
    # WGS-84's normal gravity (Somigliana, with the free-air gradient) at 40.246 degrees and 1387 m: 9.7977 m/s^2.
    assert np.linalg.norm(force) / parked.mass == pytest.approx(9.7977, abs=1e-3)


def test_engine_runs_from_start_and_brakes_hold_until_throttle_opens() -> None:
    parked = aircraft()
    assert parked.property("propulsion/engine/engine-rpm") > 500.0
    for _ in range(200):
        parked.step(0.0025)
    assert parked.truth[0] == pytest.approx(0.0, abs=1e-3)
    parked.set_controls(0.0, 0.0, 0.0, 1.0)
    for _ in range(1200):
        parked.step(0.0025)
    assert parked.truth[0] > 2.0
    rolling = parked.truth[7]
    assert rolling > 2.0
    # From here on, only the brakes stop the aircraft: 0.4 g of friction takes two seconds.
    parked.set_controls(0.0, 0.0, 0.0, 0.0)
    for _ in range(800):
        parked.step(0.0025)
    assert abs(parked.truth[7]) < 0.2 * rolling


def test_state_round_trips_and_engine_keeps_running(flown: JsbsimAircraft) -> None:
    truth, rpm = in_flight(), flown.property("propulsion/engine/engine-rpm")
    flown.set_truth(truth)
    # Feet and geocentric radii cost nine digits of the position.
    np.testing.assert_allclose(flown.truth[:3], truth[:3], atol=1e-6)
    np.testing.assert_allclose(flown.truth[3:13], truth[3:13], atol=1e-12)
    assert flown.property("propulsion/engine/engine-rpm") == pytest.approx(rpm, rel=1e-6)
    flown.set_controls(0.0, 0.0, 0.0, 1.0)
    for _ in range(400):
        flown.step(0.0025)
    assert flown.property("propulsion/engine/engine-rpm") > 1200.0


def test_invalid_state_is_rejected_and_changes_nothing(flown: JsbsimAircraft) -> None:
    flown.set_truth(in_flight())
    before = flown.truth.copy()
    for index, value in ((0, math.nan), (7, 1e6), (3, 3.0)):
        wrong = in_flight()
        wrong[index] = value
        with pytest.raises(ValueError, match=r"finite|beyond|length"):
            flown.set_truth(wrong)
    np.testing.assert_array_equal(flown.truth, before)


def test_vehicle_placed_below_ground_rests_on_its_wheels(flown: JsbsimAircraft) -> None:
    below = np.zeros(19)
    below[2:4] = 50.0, 1.0
    flown.set_truth(below)
    assert flown.truth[2] == pytest.approx(flown.initial_truth[2], abs=1e-6)


def test_position_attitude_and_velocity_integrate_their_rates(flown: JsbsimAircraft) -> None:
    flown.set_truth(in_flight())
    flown.set_controls(0.1, -0.05, 0.02, 0.7)
    for _ in range(80):
        flown.step(STEP)
    steps = 8
    before = flown.truth.copy()
    states = [before]
    for _ in range(steps):
        flown.step(STEP)
        states.append(flown.truth.copy())
    after, dt = flown.truth, steps * STEP
    mean = (
        np.mean([velocity_ned(s) for s in states[:-1]], axis=0),
        np.mean([velocity_ned(s) for s in states[1:]], axis=0),
    )
    # The trapezoid of the velocity; longitude and latitude bend by 2e-5 at 120 m from the origin.
    np.testing.assert_allclose((after[:3] - before[:3]) / dt, 0.5 * (mean[0] + mean[1]), atol=3e-3)
    north, east = velocity_ned(before)[:2]
    down = velocity_ned(before)[2]
    latitude = math.radians(40.2463724)
    # -2 W x v: W points along the earth's axis, NED (cos, 0, -sin).
    coriolis = -2.0 * EARTH_RATE * np.cross([math.cos(latitude), 0.0, -math.sin(latitude)], [north, east, down])
    accelerations = np.mean([acceleration_ned(s) for s in states], axis=0)
    change = (velocity_ned(after) - velocity_ned(before)) / dt
    # JSBSim uses Adams-Bashforth integration: its steps lag the reported values by half a step of jerk.
    np.testing.assert_allclose(change, accelerations + coriolis, atol=0.02)
    rates = np.mean([s[16:19] for s in states], axis=0)
    np.testing.assert_allclose((after[10:13] - before[10:13]) / dt, rates, atol=0.01)


def test_accelerations_equal_total_force_over_mass(flown: JsbsimAircraft) -> None:
    flown.set_truth(in_flight())
    for _ in range(40):
        flown.step(STEP)
    gravity = np.array(rotate_to_body(*flown.truth[3:7].tolist(), 0.0, 0.0, 9.7968))
    # Gravity at 300 m is 9.7968 m/s^2; in the air, the wrench is the only other force.
    np.testing.assert_allclose(flown.truth[13:16], flown.wrench()[:3] / flown.mass + gravity, atol=1e-3)


def test_wind_triangle_closes(flown: JsbsimAircraft) -> None:
    wind = np.array([3.0, -5.0, 1.0])
    flown.set_truth(in_flight())
    flown.set_wind(wind)
    flown.step(STEP)
    through_the_air = FOOT * np.array([flown.property(f"velocities/{axis}-aero-fps") for axis in "uvw"])
    expected = flown.truth[7:10] - np.array(rotate_to_body(*flown.truth[3:7].tolist(), *wind.tolist()))
    np.testing.assert_allclose(through_the_air, expected, atol=1e-9)
    # A new state keeps the wind, and its accelerations include it.
    flown.set_truth(in_flight())
    still = flown.truth[13:16].copy()
    assert flown.property("atmosphere/total-wind-east-fps") * FOOT == pytest.approx(-5.0)
    flown.set_wind(np.zeros(3))
    flown.set_truth(in_flight())
    assert np.linalg.norm(flown.truth[13:16] - still) > 0.5


def test_surfaces_rotate_aircraft_as_in_beard_and_mclain(flown: JsbsimAircraft) -> None:
    def rates(*surfaces: float) -> NDArray[np.float64]:
        flown.set_truth(in_flight())
        flown.set_controls(*surfaces, 0.6)
        for _ in range(160):
            flown.step(0.0025)
        return flown.truth[10:13].copy()

    level = rates(0.0, 0.0, 0.0)
    assert rates(0.4, 0.0, 0.0)[0] > level[0] + 0.1
    assert rates(0.0, 0.4, 0.0)[1] < level[1] - 0.1
    assert rates(0.0, 0.0, 0.4)[2] < level[2] - 0.05


def test_long_distance_flight_stays_over_flat_ground() -> None:
    north, east = radii_of_curvature(math.radians(40.2463724), 1387.0)
    frame = tangent_plane(40.2463724, -111.6474138, 1387.0)
    latitude, longitude, _ = ned_to_geodetic(frame, 100.0, 200.0, 0.0)
    # Near the origin, both flat-earth approximations agree, within 1e-4 of 200 m.
    assert math.radians(latitude - 40.2463724) * north == pytest.approx(100.0, abs=0.01)
    assert math.radians(longitude + 111.6474138) * east == pytest.approx(200.0, abs=0.01)
    far = aircraft()
    placed = in_flight(height=100.0)
    placed[:2] = 5000.0, -3000.0
    far.set_truth(placed)
    assert far.property("position/h-agl-ft") * FOOT == pytest.approx(100.0, abs=1e-3)
    np.testing.assert_allclose(far.truth[:3], placed[:3], atol=1e-6)


def test_two_aircraft_in_one_process_fly_identically_and_independently() -> None:
    alone = aircraft()
    for _ in range(200):
        alone.step(0.0025)
    first, second = aircraft(), aircraft(initial_position=[10.0, 30.0])
    np.testing.assert_allclose(second.initial_truth[:3], [10.0, 30.0, first.initial_truth[2]], atol=1e-6)
    second.set_truth(in_flight())
    for _ in range(200):
        second.step(0.0025)
        first.step(0.0025)
    np.testing.assert_array_equal(first.truth, alone.truth)
    assert second.truth[2] < -200.0


def test_step_remainder_is_carried_over() -> None:
    whole, parts = aircraft(), aircraft()
    for _ in range(30):
        whole.step(0.0025)
    for _ in range(25):
        parts.step(0.003)
    np.testing.assert_array_equal(whole.truth, parts.truth)


def test_divergence_is_reported_and_valid_state_recovers_from_it(flown: JsbsimAircraft) -> None:
    wild = in_flight()
    wild[10:13] = 5e3
    flown.set_truth(in_flight())
    with pytest.raises(StateDivergedError):
        flown.set_truth(wild)
        for _ in range(4000):
            flown.step(0.0025)
    assert np.all(np.isfinite(flown.truth))
    with pytest.raises(StateDivergedError):
        flown.step(0.0025)
    flown.set_truth(in_flight())
    flown.step(0.0025)
    np.testing.assert_allclose(flown.truth[:3], in_flight()[:3], atol=0.2)


REFUSED = {
    **dict.fromkeys(["minisgs", "paraglider"], "position has diverged: nan"),
    **dict.fromkeys(["L17", "Pterosaur", "dr1", "f104", "fokker100", "fokker50"], r"property \S+ does not exist"),
    **dict.fromkeys(["L410", "mk82", "p51d", "weather-balloon"], "does not come to rest on the ground: 8 s after"),
    "blank": "it cannot be loaded; .*No metrics element",
    "J246": "it has no contact points to stand on the ground",
}
"""Aircraft of jsbsim 1.3.3 that cannot be flown, and the reason."""


@pytest.mark.parametrize("name", aircraft_names())
def test_every_aircraft_of_the_package_stands_and_takes_any_attitude_or_is_refused_for_its_reason(name: str) -> None:
    if name in REFUSED:
        with pytest.raises(ParameterError, match=f"'aircraft': JSBSim cannot fly '{name}': .*{REFUSED[name]}"):
            aircraft(aircraft=name)
        return
    one = aircraft(aircraft=name)
    # Seen: from the ball, whose only contact point is its centre, to the MD-11.
    assert -6.0 < one.initial_truth[2] < 3.0
    np.testing.assert_allclose(one.initial_truth[7:19], 0.0, atol=1e-11)
    for _ in range(400):
        one.step(0.0025)
    np.testing.assert_allclose(one.truth[:13], one.initial_truth[:13], atol=1e-4)
    assert np.isfinite(one.wrench()).all()
    for roll, pitch, yaw in [
        (0.3, 0.2, -2.0),
        (0.3, math.pi / 2, 0.5),
        (-2.0, -math.pi / 2, 3.0),
        (0.0, math.pi / 2, 0),
    ]:
        high = in_flight(height=1000.0)
        high[3:7] = quaternion_from_euler(roll, pitch, yaw)
        one.set_truth(high)
        # Rounding of speeds in feet per second.
        np.testing.assert_allclose(one.truth[3:13], high[3:13], atol=1e-11)
    one.set_controls(0.0, 0.0, 0.0, 1.0)
    for _ in range(40):
        one.step(0.0025)
    assert np.isfinite(one.truth).all() and np.isfinite(one.wrench()).all()
    one.start_over()
    np.testing.assert_array_equal(one.truth, one.initial_truth)


@pytest.mark.parametrize(("name", "faster"), [("F450", -1.0), ("x24b", 10.0), ("c182", 0.5)])
def test_electric_rocket_and_stubborn_piston_engines_push(name: str, faster: float) -> None:
    """The F450 climbs; the X-24B and the Cessna roll."""
    one = aircraft(aircraft=name)
    one.set_controls(0.0, 0.0, 0.0, 1.0)
    for _ in range(800):
        one.step(0.0025)
    if faster < 0.0:
        assert velocity_ned(one.truth)[2] < faster
    else:
        assert one.truth[7] >= faster


def test_unknown_aircraft_is_rejected() -> None:
    with pytest.raises(ParameterError, match=r"'aircraft': 'c152' given; allowed: one of .*c172p.*, or the path"):
        aircraft(aircraft="c152")


def copied(name: str, to: Path) -> Path:
    return Path(shutil.copytree(Path(jsbsim_module().get_default_root_dir()) / "aircraft" / name, to))


def test_aircraft_in_a_folder_of_the_users_own_flies_as_in_the_package(tmp_path: Path) -> None:
    mine = aircraft(aircraft=str(copied("c172p", tmp_path / "my aircraft")))
    original = aircraft()
    np.testing.assert_array_equal(mine.initial_truth, original.initial_truth)
    for one in (mine, original):
        one.set_controls(0.1, 0.1, 0.1, 1.0)
        for _ in range(400):
            one.step(0.0025)
    np.testing.assert_array_equal(mine.truth, original.truth)
    assert mine.truth[7] > 0.1


def test_engine_in_the_users_folder_is_found(tmp_path: Path) -> None:
    folder = copied("c172p", tmp_path / "c172p")
    engines = folder / "Engines"
    engines.mkdir()
    shutil.copy(Path(jsbsim_module().get_default_root_dir()) / "engine" / "eng_io320.xml", engines / "mine.xml")
    model = folder / "c172p.xml"
    model.write_text(model.read_text().replace('engine file="eng_io320"', 'engine file="mine"'))
    assert aircraft(aircraft=f"{folder}/").property("propulsion/engine/engine-rpm") > 500.0


def test_folder_without_a_single_aircraft_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"folder '.*/none' cannot be read: .*No such file"):
        aircraft(aircraft=str(tmp_path / "none"))
    (tmp_path / "notes.xml").write_text("<notes/>")
    (tmp_path / "broken.xml").write_text("<fdm_config")
    with pytest.raises(ParameterError, match=r"\(root element fdm_config\) in it: none; allowed: .*\.xml, or only one"):
        aircraft(aircraft=str(tmp_path))
    for name in ("a", "b"):
        (tmp_path / f"{name}.xml").write_text("<fdm_config/>")
    with pytest.raises(ParameterError, match=r"in it: a\.xml, b\.xml; allowed"):
        aircraft(aircraft=str(tmp_path))


def test_damaged_aircraft_file_is_rejected_by_its_line(tmp_path: Path) -> None:
    folder = copied("c172p", tmp_path / "c172p")
    model = folder / "c172p.xml"
    whole = model.read_text()
    for text, reason in (
        (whole[:3000], r"c172p.xml is not XML: no element found: line \d+"),
        (whole.replace("<metrics>", "<metrics>&author;"), r"c172p.xml is not XML: undefined entity.*: line \d+"),
    ):
        model.write_text(text)
        with pytest.raises(ParameterError, match=f"JSBSim cannot fly '{folder}': {reason}"):
            aircraft(aircraft=str(folder))
    model.write_text(whole)
    engines = folder / "Engines"
    engines.mkdir()
    (engines / "eng_io320.xml").write_text("<piston_engine")
    with pytest.raises(ParameterError, match=f"JSBSim cannot fly '{folder}': "):
        aircraft(aircraft=str(folder))


def test_folders_pipes_and_dangling_links_beside_an_aircraft_file_are_ignored(tmp_path: Path) -> None:
    folder = copied("c172p", tmp_path / "c172p")
    (folder / "folder.xml").mkdir()
    (folder / "dangling.xml").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.xml")
    assert aircraft_file(str(folder)) == folder / "c172p.xml"


def test_models_of_the_earth_but_flat_are_refused() -> None:
    with pytest.raises(ParameterError, match="'earth': 'wgs84' given; allowed: text, one of flat"):
        JSBSIM_PARAMETERS.checked({"earth": "wgs84"})


def test_loading_prints_nothing_and_leaves_no_files(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("c172p", "c172x"):
        aircraft(aircraft=name)
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []

"""Steady wind, gusts and Dryden turbulence: shapes, variances, spectra."""

import math

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics import dryden, rotational_gusts
from rosflight_py_sim.physics.shear import shear_share
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind


def wind(seed=1, **values):
    return Wind(WIND_PARAMETERS.checked({"sim_has_wind": True, **values}), np.random.default_rng(seed))


def truth(height=50.0, velocity=(0, 0, 0)):
    state = np.zeros(19)
    state[2] = -height
    state[3] = 1.0
    state[7:10] = velocity
    return state


def series(air, seconds, dt, state):
    samples = np.empty((round(seconds / dt), 3))
    for sample in samples:
        air.step(state, dt)
        sample[:] = air.wind_ned
    return samples


def test_no_wind_by_default():
    given = {"wind_has_gusts": True, "turbulence_model": "dryden_8785c", "discrete_gust_velocity": [5.0, 0.0, 0.0]}
    air = wind(sim_has_wind=False, discrete_gust_time=0.0, **given)
    assert not series(air, 10.0, 0.01, truth()).any()


def test_steady_wind_equals_the_configured_wind():
    air = wind(use_random_wind=False, steady_state_wind=[3.0, -4.0, 0.5])
    assert series(air, 0.1, 0.01, truth())[-1].tolist() == [3.0, -4.0, 0.5]


def test_random_steady_wind_has_configured_mean_and_spread():
    given = {"random_wind_mean": [2.0, 0.0, -1.0], "random_wind_std_dev": [0.5, 1.0, 0.0]}
    drawn = np.array([wind(seed, **given).wind_ned for seed in range(2000)])
    # Five standard errors of 2000 draws.
    assert drawn.mean(axis=0) == pytest.approx([2.0, 0.0, -1.0], abs=5 * 1.0 / math.sqrt(2000))
    assert drawn.std(axis=0) == pytest.approx([0.5, 1.0, 0.0], abs=5 * 1.0 / math.sqrt(4000))


def test_same_seed_yields_same_wind_and_other_seed_differs():
    given = {"wind_has_gusts": True, "turbulence_model": "dryden_8785c"}
    first, second, other = (series(wind(seed, **given), 20.0, 0.01, truth()) for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_random_gust_is_one_full_cosine_period_along_the_wind():
    air = wind(
        use_random_wind=False,
        steady_state_wind=[3.0, 4.0, 0.0],
        wind_has_gusts=True,
        interoccurance_time_gust_s=100.0,
        gust_magnitude_mean=2.0,
        gust_magnitude_std_dev=0.0,
        gust_duration_limits=[4.0, 4.0],
        gust_dir_std_dev=0.0,
    )
    strength = (series(air, 400.0, 0.01, truth()) - np.array([3.0, 4.0, 0.0])) @ np.array([0.6, 0.8, 0.0])
    start = int(np.flatnonzero(strength > 0.0)[0])
    time = 0.01 * (1 + np.arange(398))
    assert strength[start : start + 398] == pytest.approx(1.0 - np.cos(2 * math.pi * time / 4.0), abs=1e-9)


def test_random_gusts_occur_at_configured_interval_at_any_rate():
    for dt in (0.05, 0.005):
        air = wind(
            random_wind_std_dev=[0.0, 0.0, 0.0],
            wind_has_gusts=True,
            interoccurance_time_gust_s=2.0,
            gust_magnitude_mean=1.0,
            gust_magnitude_std_dev=0.0,
            gust_duration_limits=[1.0, 1.0],
        )
        samples = series(air, 1500.0, dt, truth())
        # In a calm the directions are independent: each gust adds 3/8 of its squared peak for 1 s every 2 s.
        assert np.mean(np.sum(samples**2, axis=1)) == pytest.approx(0.5 * 3.0 / 8.0, rel=0.25)


def test_discrete_gust_builds_up_over_its_length_and_persists():
    air = wind(
        random_wind_std_dev=[0.0, 0.0, 0.0],
        discrete_gust_velocity=[0.0, 6.0, -2.0],
        discrete_gust_length=40.0,
        discrete_gust_time=1.0,
    )
    samples = series(air, 6.0, 0.01, truth(velocity=(10.0, 0.0, 0.0)))
    way = np.clip(10.0 * (0.01 * (1 + np.arange(600)) - 1.0), 0.0, 40.0)
    shape = 0.5 * (1 - np.cos(math.pi * way / 40.0))
    assert samples == pytest.approx(shape[:, None] * np.array([0.0, 6.0, -2.0]), abs=1e-9)


def test_reversed_gust_duration_limits_are_rejected():
    with pytest.raises(ParameterError, match="gust_duration_limits"):
        wind(gust_duration_limits=[5.0, 0.5])


@pytest.mark.parametrize(
    ("switch", "model"),
    [
        ({"wind_has_gusts": True}, "random_gusts"),
        ({"turbulence_model": "dryden_8785c"}, "dryden"),
    ],
)
def test_model_named_in_wind_models_equals_its_switch(switch, model):
    switched, named = wind(**switch), wind(wind_models=["constant", model])
    assert np.array_equal(series(switched, 10.0, 0.01, truth()), series(named, 10.0, 0.01, truth()))


def test_model_velocities_add_up_in_any_order():
    one, other = wind(wind_models=["dryden", "constant"]), wind(wind_models=["constant", "dryden"])
    alone = wind(wind_models=["constant"])
    assert np.array_equal(series(one, 1.0, 0.01, truth()), series(other, 1.0, 0.01, truth()))
    assert alone.wind_ned.any()
    assert not wind(wind_models=[]).wind_ned.any()


@pytest.mark.parametrize(
    ("height_ft", "share"),
    # At 20 ft and 200 ft the logarithms are known; the wind is held above 1000 ft, and there is none on the ground.
    [(20.0, 1.0), (200.0, math.log(2000.0) / math.log(200.0)), (0.0, 0.0), (3000.0, math.log(1e4) / math.log(200.0))],
)
def test_shear_grows_logarithmically_with_height(height_ft, share):
    air = wind(wind_models=["shear"], shear_wind_20ft=[3.0, -4.0, 0.0], shear_roughness_length=0.1 * dryden.FOOT)
    air.step(truth(height=height_ft * dryden.FOOT), 0.01)
    assert air.wind_ned == pytest.approx(share * np.array([3.0, -4.0, 0.0]), rel=1e-12)


def test_shear_is_the_logarithm_from_1000_ft_down_to_the_roughness_length():
    roughness = 0.15 * dryden.FOOT
    heights = np.geomspace(roughness, 1000.0 * dryden.FOOT, 200)
    found = np.array([shear_share(height, roughness) for height in heights])
    # Below 3 ft, where the specification ends, the same law holds down to zero, without a jump.
    assert found == pytest.approx(np.log(heights / roughness) / math.log(20.0 / 0.15), abs=1e-12)
    assert shear_share(0.5 * roughness, roughness) == shear_share(-1.0, roughness) == 0.0


@pytest.mark.parametrize(
    ("height", "expected"),
    [(-10.0, -6.0), (0.0, -6.0), (25.0, -3.5), (100.0, 4.0), (200.0, 9.0), (300.0, 14.0), (900.0, 14.0)],
)
def test_profile_is_linear_between_its_rows_and_constant_beyond(height, expected):
    rows = [1.0, -6.0, 0.0, 1.0, 4.0, -0.5, 1.0, 14.0, 0.0]
    air = wind(wind_models=["profile"], profile_heights=[0.0, 100.0, 300.0], profile_velocities=rows)
    air.step(truth(height=height), 0.01)
    assert air.wind_ned[:2].tolist() == pytest.approx([1.0, expected], rel=1e-12)


def test_profile_with_one_row_is_constant():
    air = wind(wind_models=["profile"], profile_heights=[50.0], profile_velocities=[3.0, 2.0, 1.0])
    for height in (0.0, 50.0, 80.0):
        air.step(truth(height=height), 0.01)
        assert air.wind_ned.tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("given", "expected_error"),
    [
        ({"profile_heights": [0.0, 5.0, 5.0], "profile_velocities": [0.0] * 9}, "'profile_heights'.* rise"),
        ({"profile_heights": [0.0, 5.0], "profile_velocities": [0.0] * 5}, "'profile_velocities': 5 .* allowed: 6"),
        ({"wind_models": ["profile"]}, "'profile_heights': .* at least one height"),
        ({"thermal_positions": [1.0, 2.0, 3.0]}, "'thermal_positions': 3 numbers .* north and east"),
        ({"thermal_positions": []}, "'thermal_positions': 0 numbers .* at least one"),
        ({"thermal_area": 1e4}, "'thermal_area': 10000 m\\^2 given; allowed: 0, or at least 1.436e"),
    ],
)
def test_wind_tables_that_do_not_fit_are_rejected(given, expected_error):
    with pytest.raises(ParameterError, match=expected_error):
        wind(**given)


def rising(position, height, **given):
    air = wind(wind_models=["thermal"], **given)
    state = truth(height=height)
    state[:2] = position
    air.step(state, 0.01)
    assert air.wind_ned[:2].tolist() == [0.0, 0.0]
    return -air.wind_ned[2]


CONVECTION = {"thermal_velocity_scale": 2.5, "thermal_depth": 1400.0}


@pytest.mark.parametrize("height", [50.0, 300.0, 700.0, 1100.0])
def test_thermal_has_the_mean_and_axis_speeds_of_its_source(height):
    share = height / 1400.0
    mean = 2.5 * share ** (1 / 3) * (1 - 1.1 * share)
    outer = 0.102 * share ** (1 / 3) * (1 - 0.25 * share) * 1400.0
    core = 0.0011 * outer + 0.14
    axis = 3 * mean * (1 - core) / (1 - core**3)
    # The bell of the paper's fit is up to 2.5 % above or below the trapezoid on its axis.
    assert rising((0.0, 0.0), height, **CONVECTION) == pytest.approx(axis, rel=0.025)
    places = (np.arange(400) + 0.5) / 400 * outer
    speeds = np.array([rising((0.6 * r, -0.8 * r), height, **CONVECTION) for r in places])
    # The bell has the trapezoid's mean within 6 %.
    assert np.sum(speeds * places) / np.sum(places) == pytest.approx(mean, rel=0.06)


def test_thermal_ends_at_its_edges_and_at_the_top_of_its_layer():
    assert rising((0.0, 0.0), 0.0, **CONVECTION) == rising((0.0, 0.0), 1280.0, **CONVECTION) == 0.0
    assert rising((400.0, 0.0), 400.0, **CONVECTION) == 0.0
    # A ring of sinking air in the upper half of the layer only.
    assert rising((120.0, 0.0), 400.0, **CONVECTION) == 0.0
    assert rising((0.0, 160.0), 1000.0, **CONVECTION) < -0.05


def test_nearest_thermal_alone_moves_the_air():
    given = {"thermal_positions": [-300.0, 0.0, 500.0, 200.0], "thermal_radius": 150.0, **CONVECTION}
    assert rising((500.0, 200.0), 400.0, **given) == rising((-300.0, 0.0), 400.0, **given) > 2.0
    assert rising((350.0, 200.0), 400.0, **given) < 0.4
    assert rising((100.0, 100.0), 400.0, **given) == 0.0


def test_air_sinks_around_thermals_as_much_as_it_rises_in_them():
    area, outer, height = 1e6, 90.73, 466.0
    sink = -rising((450.0, 0.0), height, thermal_area=area, **CONVECTION)
    share = height / 1400.0
    mean = 2.5 * share ** (1 / 3) * (1 - 1.1 * share)
    covered = math.pi * outer**2
    assert sink == pytest.approx(covered * mean / (area - covered), rel=1e-3)


def test_turbulence_is_aligned_with_sheared_wind():
    given = {"wind_models": ["shear", "dryden"], "turbulence_wind_speed_20ft": 10.0}
    air = wind(shear_wind_20ft=[0.0, 8.0, 0.0], **given)
    still = wind(**given)
    state = truth(height=30.0, velocity=(40.0, 0.0, 0.0))
    (mean,) = series(wind(wind_models=["shear"], shear_wind_20ft=[0.0, 8.0, 0.0]), 0.01, 0.01, state)
    # The same numbers, turned by a right angle; the airspeed differs by 4 %.
    turned = series(air, 0.01, 0.01, state)[0] - mean
    assert turned == pytest.approx(series(still, 0.01, 0.01, state)[0][[1, 0, 2]] * np.array([-1, 1, 1]), rel=0.2)


@pytest.mark.parametrize(
    ("models", "expected_error"),
    [
        (
            ["constant", "karman"],
            "'karman' of .*wind_models given; allowed: .*constant, shear, profile, .*, dryden",
        ),
        (["constant", "constant"], "'wind_models'.* allowed: each name once; 'constant' is repeated"),
    ],
)
def test_unknown_and_repeated_models_are_rejected(models, expected_error):
    with pytest.raises(ParameterError, match=expected_error):
        wind(wind_models=models)


def test_turbulence_scales_match_the_specification():
    feet = 0.3048
    length, sigma, length_w, sigma_w = dryden.scales(200 * feet, 10.0, 3.0)
    shape = 0.177 + 0.000823 * 200
    assert (length, length_w) == pytest.approx((200 / shape**1.2 * feet, 200 * feet), rel=1e-12)
    assert (sigma, sigma_w) == pytest.approx((1.0 / shape**0.4, 1.0), rel=1e-12)
    # At 1000 ft the low-altitude formulas are isotropic, by construction of the specification.
    # Below 10 ft the scales and the horizontal intensity are held, and the ground blocks vertical motion.
    lowest = dryden.scales(10 * feet, 10.0, 3.0)
    assert dryden.scales(1.25 * feet, 10.0, 3.0) == pytest.approx((*lowest[:3], 0.5 * lowest[3]), rel=1e-12)
    assert dryden.scales(-1.0, 10.0, 3.0) == dryden.scales(0.5 * feet, 10.0, 3.0)
    assert dryden.scales(1000 * feet, 10.0, 3.0) == pytest.approx((1000 * feet, 1.0, 1000 * feet, 1.0), rel=1e-12)
    assert dryden.scales(1500 * feet, 10.0, 3.0) == pytest.approx((1375 * feet, 2.0, 1375 * feet, 2.0), rel=1e-12)
    assert dryden.scales(9000 * feet, 10.0, 3.0) == pytest.approx((1750 * feet, 3.0, 1750 * feet, 3.0), rel=1e-12)


@pytest.mark.parametrize("dt", [0.02, 0.2])
def test_turbulence_variance_matches_the_specification_at_any_rate(dt):
    still = {"random_wind_std_dev": [0.0, 0.0, 0.0], "turbulence_model": "dryden_8785c"}
    state = truth(height=20.0, velocity=(40.0, 0.0, 0.0))
    _, sigma, _, sigma_w = dryden.scales(20.0, 7.7, 1.5)
    samples = series(wind(turbulence_wind_speed_20ft=7.7, **still), 4000.0, dt, state)
    # About 4000 s over a scale of 170 m at 40 m/s: 1000 and more independent samples, so 5 sigma is 20 %.
    assert samples.var(axis=0) == pytest.approx([sigma**2, sigma**2, sigma_w**2], rel=0.2)


@pytest.mark.parametrize("dt", [0.01, 0.04])
def test_turbulence_spectrum_matches_the_specification_at_any_rate(dt):
    still = {"random_wind_std_dev": [0.0, 0.0, 0.0], "turbulence_model": "dryden_8785c"}
    speed, height = 30.0, 15.0
    length, sigma, length_w, sigma_w = dryden.scales(height, 7.7, 1.5)
    samples = series(wind(turbulence_wind_speed_20ft=7.7, **still), 1600.0, dt, truth(height, (speed, 0.0, 0.0)))
    segments = samples.reshape(40, -1, 3)
    window = np.hanning(segments.shape[1])[:, None]
    spectrum = np.abs(np.fft.rfft(segments * window, axis=1)) ** 2
    density = 2.0 * dt * spectrum.mean(axis=0) / np.sum(window**2)
    frequency = np.fft.rfftfreq(segments.shape[1], dt)
    for low, high in ((0.1, 0.2), (0.3, 0.6), (1.0, 2.0)):
        band = (frequency >= low) & (frequency < high)
        scaled = 2 * math.pi * frequency[band] * length / speed
        along = 4 * sigma**2 * length / speed / (1 + scaled**2)
        assert density[band, 0].mean() == pytest.approx(along.mean(), rel=0.25)
        for axis, scale, intensity in ((1, length, sigma), (2, length_w, sigma_w)):
            scaled = 2 * math.pi * frequency[band] * scale / speed
            across = 2 * intensity**2 * scale / speed * (1 + 3 * scaled**2) / (1 + scaled**2) ** 2
            # 40 segments of 4 or more bins each, 160 values of an exponential distribution: 3 sigma is 24 %.
            assert density[band, axis].mean() == pytest.approx(across.mean(), rel=0.25)


SPAN = 2.0


def rates(air, seconds, dt, state):
    """Rotation of the air in each step (n, 3), rad/s."""
    samples = np.empty((round(seconds / dt), 3))
    for sample in samples:
        air.step(state, dt)
        sample[:] = air.rates_body
    return samples


def turning(**values):
    given = {"random_wind_std_dev": [0.0, 0.0, 0.0], "turbulence_model": "dryden_8785c", "turbulence_span": SPAN}
    return wind(**{**given, "rotational_gusts": True, **values})


def test_air_does_not_turn_without_rotational_gusts_and_they_leave_its_velocity_as_it_is():
    state = truth(velocity=(20.0, 0.0, 0.0))
    straight, turned = turning(rotational_gusts=False), turning()
    assert not rates(straight, 5.0, 0.01, state).any()
    assert rates(turned, 5.0, 0.01, state).all(axis=1)[1:].all()
    assert np.array_equal(series(straight, 5.0, 0.01, state), series(turned, 5.0, 0.01, state))


@pytest.mark.parametrize("heading", [0.0, 180.0])
def test_rotational_gusts_have_the_spectra_of_the_specification(heading):
    """Along the mean wind and against it, in body axes."""
    speed, height, dt = 30.0, 15.0, 0.01
    length, sigma, length_w, sigma_w = dryden.scales(height, 7.7, 1.5)
    state = truth(height, (speed, 0.0, 0.0))
    state[3:7] = math.cos(math.radians(heading / 2)), 0.0, 0.0, math.sin(math.radians(heading / 2))
    segments = rates(turning(), 1600.0, dt, state).reshape(40, -1, 3)
    window = np.hanning(segments.shape[1])[:, None]
    spectrum = np.abs(np.fft.rfft(segments * window, axis=1)) ** 2
    density = 2.0 * dt * spectrum.mean(axis=0) / np.sum(window**2)
    frequency = np.fft.rfftfreq(segments.shape[1], dt)
    for low, high in ((0.3, 0.6), (1.0, 2.0), (4.0, 8.0)):
        band = (frequency >= low) & (frequency < high)
        # Wave number, rad/m, and spectra over frequency in Hz.
        wave = 2.0 * math.pi * frequency[band] / speed
        to_hertz = 2.0 * math.pi / speed
        rolling = sigma_w**2 / length_w * 0.8 * (math.pi * length_w / (4.0 * SPAN)) ** (1 / 3)
        expected = [rolling / (1.0 + (4.0 * SPAN * wave / math.pi) ** 2)]
        for scale, intensity, spans in ((length_w, sigma_w, 4.0), (length, sigma, 3.0)):
            lateral = intensity**2 * scale / math.pi * (1 + 3 * (scale * wave) ** 2) / (1 + (scale * wave) ** 2) ** 2
            expected.append(wave**2 / (1.0 + (spans * SPAN * wave / math.pi) ** 2) * lateral)
        for axis in range(3):
            # 40 segments of 12 or more bins: 5 standard errors of 480 values are 23 %.
            assert density[band, axis].mean() == pytest.approx(to_hertz * expected[axis].mean(), rel=0.23)


def test_vertical_gust_that_grows_along_the_path_pitches_the_air_down():
    air, rates_body = rotational_gusts.still_air(SPAN, 0.0), np.zeros(3)
    state, dt, gradient = truth(velocity=(25.0, 0.0, 0.0)), 0.01, 0.02
    for k in range(200):
        gust = 25.0 * k * dt * gradient * np.array([0.0, 0.5, 1.0])
        rotational_gusts.rotate_air(air, 100.0, 0.0, dt, np.zeros(3), state, gust, 0.0, rates_body)
    # w = -q x and v = r x of air that turns as a rigid body.
    assert rates_body == pytest.approx([0.0, -gradient, 0.5 * gradient], rel=1e-6)


def test_rotation_of_the_air_fades_below_the_airspeed_at_which_turbulence_passes():
    fast, slow = (rates(turning(), 200.0, 0.05, truth(20.0, (speed, 0.0, 0.0))) for speed in (1.0, 0.0))
    assert np.std(fast, axis=0).min() > 0.02
    assert not slow.any()


def test_rolling_intensity_is_the_integral_of_its_spectrum():
    wave = 0.0005 * (np.arange(4_000_000) + 0.5)
    spectrum = 1.5**2 / 40.0 * 0.8 * (math.pi * 40.0 / (4.0 * SPAN)) ** (1 / 3)
    spectrum = spectrum / (1.0 + (4.0 * SPAN * wave / math.pi) ** 2)
    # The tail beyond 2000 rad/m has 1e-4 of the variance.
    expected = math.sqrt(0.0005 * np.sum(spectrum))
    assert rotational_gusts.rolling_intensity(SPAN, 40.0, 1.5) == pytest.approx(expected, rel=2e-4)


def test_rotational_gusts_survive_parameter_change():
    state = truth(velocity=(20.0, 0.0, 0.0))
    old = turning()
    before = rates(old, 5.0, 0.01, state)[-1]
    new = turning(seed=4, turbulence_wind_speed_20ft=8.0)
    new.adopt(old)
    assert new.rates_body.tolist() == before.tolist()
    assert rates(new, 0.001, 0.001, state)[0] == pytest.approx(before, abs=0.05)


@pytest.mark.parametrize("tau", [1e-6, 1e-3, 0.099, 0.101, 3.0])
def test_step_noise_has_covariance_of_the_stationary_filter(tau):
    stationary = np.array([[0.5, 0.25], [0.25, 0.25]])
    transition = math.exp(-tau) * np.array([[1.0, 0.0], [tau, 1.0]])
    expected = stationary - transition @ stationary @ transition.T
    found = np.array([[dryden.moment(0, tau), dryden.moment(1, tau)], [dryden.moment(1, tau), dryden.moment(2, tau)]])
    # The difference of two numbers near 1 is known to rounding.
    assert found == pytest.approx(expected, abs=1e-15)


def test_wind_state_survives_parameter_change():
    given = {"wind_has_gusts": True, "turbulence_model": "dryden_8785c"}
    old = wind(**given)
    series(old, 20.0, 0.01, truth())
    new = wind(seed=7, turbulence_wind_speed_20ft=8.0, **given)
    new.adopt(old)
    assert np.array_equal(new.wind_ned, old.wind_ned)
    before = new.wind_ned.copy()
    new.step(truth(), 0.001)
    # A millisecond changes turbulence of 1 m/s and gusts by centimetres a second; a new start would by metres.
    assert np.linalg.norm(new.wind_ned - before) < 0.3


def test_new_steady_wind_replaces_the_old():
    old = wind()
    new = wind(use_random_wind=False, steady_state_wind=[5.0, 0.0, 0.0])
    new.adopt(old)
    assert new.wind_ned.tolist() == [5.0, 0.0, 0.0]

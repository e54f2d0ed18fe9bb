"""Wing, surfaces and propeller of a fixed wing."""

import numpy as np

from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing


def test_steady_wrench_is_where_update_settles():
    plane = FixedWing(FIXEDWING_PARAMETERS.checked(FIXEDWING_PARAMETERS.defaults()))
    truth = np.zeros(19)
    truth[3] = 1.0
    truth[7:13] = (20.0, 1.0, 0.5, 0.1, 0.2, -0.1)
    wind = np.array([1.0, -2.0, 0.5])
    pwm = np.full(14, 1500.0)
    pwm[:5] = (1600.0, 1450.0, 1520.0, 1500.0, 1700.0)
    for _ in range(400):
        wrench = plane.update(truth, wind, pwm, 0.0025)
    angles = np.radians(40.0) * np.array([0.2, -0.1, 0.04])
    before = plane.deflections.copy(), plane.propeller_speed, plane.current_a
    # The slowest lag, the motor's 30 ms, is over to e^-33.
    np.testing.assert_allclose(plane.steady_wrench(truth, wind, *angles, 0.7), wrench, rtol=1e-12)
    assert (plane.propeller_speed, plane.current_a) == before[1:]
    assert np.array_equal(plane.deflections, before[0])

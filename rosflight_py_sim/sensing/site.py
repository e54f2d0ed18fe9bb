"""Parameters of the launch site, shared by the sensors."""

from __future__ import annotations

from rosflight_py_sim.parameters import ParameterTable
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS
from rosflight_py_sim.shared_parameters import ORIGIN_LONGITUDE

SITE_PARAMETERS = EARTH_PARAMETERS + ParameterTable(ORIGIN_LONGITUDE)

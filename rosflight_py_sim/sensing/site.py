"""Parameters of the launch site, shared by the sensors."""

from __future__ import annotations

from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.ground.shared_parameters import ORIGIN_LONGITUDE
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS

SITE_PARAMETERS = EARTH_PARAMETERS + ParameterTable(ORIGIN_LONGITUDE)

"""Physics: vehicle models, rigid body with contact, wind, standard atmosphere, trim and linearisation.

Inertial frame NED, body frame FRD, SI units, quaternions w x y z (body to inertial). The truth state is a float64
array of 19: [0:3] position NED (m), [3:7] quaternion, [7:10] velocity over ground in body axes (m/s), [10:13] body
rates (rad/s), [13:16] sum of all forces over mass in body axes (m/s^2), [16:19] angular acceleration (rad/s^2).
A wrench is a float64 array of 6: force (N), then moment (N m) about the centre of mass, in body axes, without gravity
and contact. No module here imports ROS.
"""

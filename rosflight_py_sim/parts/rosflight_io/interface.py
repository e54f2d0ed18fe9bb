"""Existence of rosflight_io's topics and services on a part."""

from __future__ import annotations

from rosflight_py_sim.step.part import Part


class RosflightIoInterface(Part):
    """Base class of the parts of rosflight_io's interface, which exists where `offers_rosflight_io` says so."""

    def offers_rosflight_io(self) -> bool:
        """Whether the part has the topics and services of `rosflight_io`."""
        return True

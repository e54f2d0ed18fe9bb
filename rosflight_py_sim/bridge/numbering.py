"""Order in which a protocol numbers the vehicles of a simulation: for ports, ids and plane numbers."""

from __future__ import annotations

from collections.abc import Collection


def numbers_of_vehicles(count: int, observed: Collection[int]) -> list[int]:
    """Number of each vehicle in a protocol, from 0.

    The vehicles that the protocol's programs command have the first numbers, in the order of the simulation; the
    observed ones follow. A vehicle's number therefore does not depend on vehicles that other protocols command.

    Args:
        count: number of vehicles.
        observed: indices of the vehicles that the protocol only observes.
    """
    order = sorted(range(count), key=lambda vehicle: vehicle in observed)
    numbers = [0] * count
    for number, vehicle in enumerate(order):
        numbers[vehicle] = number
    return numbers

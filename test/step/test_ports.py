"""Ports of a part that nothing is connected to, and calls between parts."""

from __future__ import annotations

import pytest
from std_srvs.srv import Trigger

from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Call, calls, namespace_of, polled, ports_of, service
from rosflight_py_sim.step.topics import TRUTH_WIND, Wind


class Caller(Part):
    """Calls services, and polls the wind."""

    called = calls(Trigger, "bell/ring", "bell/oil")
    take_wind = polled(TRUTH_WIND)


class LoudCaller(Caller):
    """Calls one service more."""

    called = calls(Trigger, *Caller.called.topics, "bell/ring_twice")


class Bell(Part):
    """Offers a service."""

    rung = 0

    @service(Trigger, "bell/ring")
    def ring(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Count the call."""
        self.rung += 1
        response.success, response.message = True, f"rung {self.rung}"
        return response


def test_part_that_is_not_connected_has_neither_messages_nor_services() -> None:
    caller = Caller({})
    assert caller.take_wind() is None
    assert caller.called == {}


def test_polled_port_is_the_function_that_connects_it() -> None:
    caller, wind = Caller({}), Wind(3, (1.0, 2.0, 3.0))
    caller.take_wind = lambda: wind
    assert caller.take_wind() is wind
    assert Caller({}).take_wind() is None


def test_derived_part_extends_the_services_that_it_calls() -> None:
    assert [port.topics for port in ports_of(LoudCaller) if port.name == "called"] == [
        ("bell/ring", "bell/oil", "bell/ring_twice")
    ]


def test_call_of_a_service_method_is_answered_within_the_call() -> None:
    bell, replies = Bell({}), []
    call = Call.answered_by(Trigger, bell.ring)
    assert call.is_available()
    call.send(Trigger.Request(), replies.append)
    call.send(Trigger.Request(), replies.append)
    assert [reply.message for reply in replies] == ["rung 1", "rung 2"]


@pytest.mark.parametrize(
    ("vehicle", "own", "namespace"),
    [
        ("leader", "/follower", "/leader"),
        ("leader", "/", "/leader"),
        ("leader", "/range/follower", "/range/leader"),
        ("/elsewhere/leader", "/range/follower", "/elsewhere/leader"),
    ],
)
def test_vehicle_is_named_absolutely_or_beside_the_own(vehicle: str, own: str, namespace: str) -> None:
    assert namespace_of(vehicle, own) == namespace

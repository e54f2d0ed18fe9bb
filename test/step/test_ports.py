"""Ports of a part that nothing is connected to, and calls between parts."""

from __future__ import annotations

import pytest
from std_srvs.srv import Trigger

from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import (
    Call,
    Input,
    Port,
    calls,
    each,
    namespace_of,
    newest,
    output,
    polled,
    ports_of,
    service,
    synchronized,
    trigger,
)
from rosflight_py_sim.step.topics import OUTPUT_RAW, RC, TRUTH_STATE, TRUTH_WIND, Outputs, PulseWidths, WindSample
from rosflight_py_sim.step.vehicle_state import VehicleState


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
    caller, wind = Caller({}), WindSample(3, (1.0, 2.0, 3.0))
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
    assert call.is_available() and not call.is_missing()
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


class Cameras(Part):
    """Sends an image of each camera, and counts the steps of other vehicles."""

    names = ("front", "bottom")
    others = ("/leader", "/wing")
    send_image = each("names", lambda name: output(OUTPUT_RAW.renamed(f"camera/{name}")))
    takes = each("names", lambda name: polled(OUTPUT_RAW.renamed(f"light/{name}")))
    states = each("others", lambda vehicle: newest(TRUTH_STATE, at=vehicle, initial=VehicleState()))

    def __init__(self) -> None:
        super().__init__({})
        self.received: list[tuple[str, int]] = []

    @each("names", lambda name: newest(RC.renamed(f"rc/{name}")))
    def receive(self, name: str, message: PulseWidths) -> None:
        """Note the message."""
        self.received.append((name, message.time_ns))


def test_each_declares_one_port_for_each_name() -> None:
    ports = Cameras().ports(Port)
    assert [(port.family, port.name) for port in ports] == [
        *((family, name) for family in ("send_image", "takes") for name in Cameras.names),
        *(("states", vehicle) for vehicle in Cameras.others),
        *(("receive", name) for name in Cameras.names),
    ]


def test_unconnected_ports_of_each_name_drop_and_have_nothing() -> None:
    cameras = Cameras()
    cameras.send_image["front"](Outputs(0, ()))
    assert {name: take() for name, take in cameras.takes.items()} == {"front": None, "bottom": None}
    assert cameras.states["/wing"].time_ns == -1


def test_messages_of_each_name_arrive_with_the_name() -> None:
    cameras = Cameras()
    takers = {(port.family, port.name): port.taker(cameras) for port in cameras.ports(Input)}
    takers["receive", "bottom"](PulseWidths(3, ()))
    takers["receive", "front"](PulseWidths(4, ()))
    assert cameras.received == [("bottom", 3), ("front", 4)]
    state = VehicleState(5)
    takers["states", "/leader"](state)
    assert cameras.states["/leader"] is state
    assert cameras.states["/wing"].time_ns == -1


def test_inputs_of_other_vehicles_are_apart_in_the_join() -> None:
    class Watcher(Part):
        own = trigger(TRUTH_STATE)
        others = each("vehicles", lambda vehicle: synchronized(TRUTH_STATE, required=True, at=vehicle))
        vehicles = ("/leader", "/wing")

    rule = Watcher({}).join_rule
    assert rule.trigger == TRUTH_STATE.name
    assert rule.synchronized == rule.required == (f"/leader/{TRUTH_STATE.name}", f"/wing/{TRUTH_STATE.name}")

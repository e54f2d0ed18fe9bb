"""Loss of the transmitter, and the source in command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosflight_msgs.msg import Command, PwmOutput, Status

from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.step.topics import COMMAND, PWM_OUTPUT, STATUS

RC_LOST = 0x04


def command(throttle: float) -> Command:
    message = Command(mode=Command.MODE_ROLL_PITCH_YAWRATE_THROTTLE)
    message.u = [0.0, 0.0, throttle, *(0.0,) * 7]
    return message


def test_rc_loss_triggers_failsafe_until_rc_returns(graph: Callable[..., Any]) -> None:
    g = graph()
    g.arm()
    status = g.collect_messages(STATUS)
    g.remove(g.node("rc"))
    lost_s = g.time_s
    g.spin_until(lambda: g.status.failsafe, "failsafe")
    # 100 ms without a frame, of which up to 20 ms had passed, plus a few steps for messages in transit.
    assert 0.08 <= time_ns_of(g.status.header.stamp) * 1e-9 - lost_s <= 0.12
    assert g.status.error_code & RC_LOST
    assert g.status.armed
    again = g.add("rc", namespace="")
    # The new node starts with default switch positions; the arm switch must be on again for the flight to continue.
    g.executor.add_node(again)
    assert g.call("toggle_arm").success
    g.spin_until(lambda: not g.status.failsafe, "the end of failsafe")
    assert not g.status.error_code & RC_LOST
    assert any(message.failsafe for message in status)


def test_override_switch_hands_over_between_rc_and_computer(graph: Callable[..., Any]) -> None:
    g = graph()
    pwm: list[PwmOutput] = g.collect_messages(PWM_OUTPUT)
    g.arm()
    publisher = g.tester.create_publisher(Command, COMMAND.name, 1)
    g.tester.create_timer(0.01, lambda: publisher.publish(command(0.4)))
    g.spin_for(0.5)
    assert g.status.rc_override & Status.OVERRIDE_ATT_SWITCH
    assert g.status.rc_override & Status.OVERRIDE_THR_SWITCH
    g.call("toggle_override")
    g.spin_until(lambda: g.status.offboard and g.status.rc_override == 0, "the computer in command")
    g.spin_until(lambda: max(pwm[-1].values[:4]) > 1300, "the computer's throttle")
    g.call("toggle_override")
    g.spin_until(lambda: g.status.rc_override & Status.OVERRIDE_THR_SWITCH, "RC in command")
    g.spin_until(lambda: max(pwm[-1].values[:4]) < 1200, "the throttle stick, which is low")

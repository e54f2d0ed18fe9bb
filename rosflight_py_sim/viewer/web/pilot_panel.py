"""Folders `Fly`, with a checklist of the steps of a flight, and `Pilot`, with a button for each action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import viser

from rosflight_py_sim.viewer.web.buttons import Buttons, Hindrance, always
from rosflight_py_sim.viewer.web.fly_steps import FIRMWARE_STEPS, HOLDING_STEPS, FlySequence, FlyStep
from rosflight_py_sim.viewer.web.pilot_state import PilotState

_START = "autopilot/start"
_RESET = ("dynamics/reset", "forces_and_moments/reset")
_TO_AUTOPILOT = "Give control to the autopilot"
_NO_AUTOPILOT = "this simulation has no autopilot; start it with `sim --autopilot`"
_PROGRAM = "the command `rosflight_py_sim fly` flies this mission"

_DONE, _PRESENT, _FAILED, _OPEN, _WARNING = (
    '<span style="color:#1a7f37">&#10003;</span>',
    '<span style="color:#2264c0">&#8230;</span>',
    '<span style="color:#cf222e">&#10007;</span>',
    '<span style="color:#8b949e">&#9675;</span>',
    '<span style="color:#b35900">&#9888;</span>',
)

Call = Callable[[str, Sequence[str]], None]
"""Function that calls services of the selected vehicle in order, given the name of the action."""


class PilotPanel:
    """The pilot's buttons, and the checklist.

    Attributes:
        sequence: the sequence behind the button *Fly*.
        flown_by_program: whether the command `fly` flies the selected vehicle's mission.
        warning: warning of the command's judge about the flight, such as an oscillation; empty for none.
    """

    def __init__(self, gui: viser.GuiApi, buttons: Buttons, call: Call) -> None:
        """Add the folders at the current place."""
        self._buttons, self._call = buttons, call
        self._state = PilotState()
        self.flown_by_program = False
        self.warning = ""
        self._is_wanted = False
        self.sequence = FlySequence(lambda label, service: call(label, [service]))
        with gui.add_folder("Fly", order=1.0):
            buttons.add(
                "Fly",
                (),
                "prepare the vehicle, and fly the autopilot's mission",
                viser.Icon.PLANE_DEPARTURE,
                self._request_flight,
                hindrance=self._fly_hindrance,
            )
            self._checklist = gui.add_html("")
        with gui.add_folder("Pilot", order=20.0):
            self._switches = gui.add_html("")
            self._add(
                "Calibrate",
                ("calibrate_imu",),
                "calibrate the IMU at rest, before the first arming",
                viser.Icon.RULER_MEASURE,
                lambda state: "the vehicle is armed" if state.is_armed else "",
            )
            self._arm = self._add(
                "Arm", ("toggle_arm",), "move the transmitter's arm switch", viser.Icon.POWER, _arm_hindrance
            )
            self._control = self._add(
                _TO_AUTOPILOT,
                ("toggle_override",),
                "move the transmitter's override switch",
                viser.Icon.SWITCH_HORIZONTAL,
            )
            self._add("Start mission", (_START,), "start the autopilot's mission", viser.Icon.FLAG, _start_hindrance)
            buttons.add(
                "Reset",
                _RESET,
                "reset the vehicle to its initial state; time continues",
                viser.Icon.RESTORE,
                self._reset,
            )

    def show(self, state: PilotState) -> None:
        """Show the switches, and continue the sequence."""
        self._state = state
        self.sequence.steps = self._steps(state)
        if self._is_wanted:
            self._is_wanted = False
            self.sequence.begin(state)
        self.sequence.update(state)
        _set_label(self._arm, "Disarm" if state.arm_switch else "Arm")
        to_autopilot = state.override_switch is not False
        _set_label(self._control, _TO_AUTOPILOT if to_autopilot else "Override the autopilot")
        _set_content(self._switches, _switches(state))
        _set_content(self._checklist, self.checklist())

    def _request_flight(self) -> None:
        """Begin the sequence at the next state; viser calls this in a thread of its own."""
        self._is_wanted = True

    def note_refusal(self, label: str, text: str) -> None:
        """End the sequence if the refused action is its present step."""
        present = self.sequence.present
        if present is not None and present.label == label:
            self.sequence.stop(text)

    def checklist(self) -> str:
        """HTML of the steps with their states, and the judge's warning."""
        hindrance = self._fly_hindrance(self._state)
        rows = [self._row(step) for step in self.sequence.steps]
        if hindrance and not self.sequence.is_running:
            rows.append(f'<span style="color:#57606a">{escape(hindrance)}</span>')
        if self.warning:
            rows.append(f"{_WARNING} {escape(self.warning)}")
        return f'<div style="padding:0.2em 0.8em;line-height:1.5;font-size:0.85em">{"<br>".join(rows)}</div>'

    def _add(
        self, label: str, services: tuple[str, ...], hint: str, icon: viser.IconName, hindrance: Hindrance = always
    ) -> viser.GuiButtonHandle:
        """Add a button that calls its services, under the label that it has then."""
        button = self._buttons.add(
            label, services, hint, icon, lambda: self._call(button.label, services), hindrance=hindrance
        )
        return button

    def _row(self, step: FlyStep) -> str:
        sequence, state = self.sequence, self._state
        if step is sequence.present and sequence.failure:
            return f"{_FAILED} {escape(step.label)}: {escape(sequence.failure)}"
        if sequence.is_done(step, state):
            return f"{_DONE} {escape(step.label)}"
        is_present = sequence.is_present(step, state)
        why = step.reason(state) if is_present else ""
        text = escape(step.label) + (f": {escape(why)}" if why else "")
        return f"{_PRESENT if is_present else _OPEN} {text}"

    def _steps(self, state: PilotState) -> tuple[FlyStep, ...]:
        if not self._buttons.has(_START):
            return ()
        if state.has_firmware:
            return FIRMWARE_STEPS
        return HOLDING_STEPS if state.holds is not None else ()

    def _fly_hindrance(self, state: PilotState) -> str:
        if not self._buttons.has(_START):
            return _NO_AUTOPILOT
        if self.flown_by_program:
            return _PROGRAM
        if state.paused:
            return "the simulation is paused"
        if not self._steps(state):
            return "no status of the flight controller yet"
        if self.sequence.is_running:
            return "the flight is under way"
        return f"the mission is under way: {state.phase}" if state.is_under_way else ""

    def _reset(self) -> None:
        self.sequence.stop("the vehicle was reset")
        self._call("Reset", _RESET)


def _arm_hindrance(state: PilotState) -> str:
    if state.arm_switch or state.is_armed or not state.has_firmware:
        return ""
    return f"the vehicle cannot be armed: {state.arming_refusal}" if state.arming_refusal else ""


def _start_hindrance(state: PilotState) -> str:
    if state.is_under_way:
        return f"the mission is under way: {state.phase}"
    if state.has_firmware and not state.is_armed:
        return ": ".join(filter(None, ("the vehicle is disarmed", state.arming_refusal)))
    return "the vehicle is released; hold depth and heading first" if state.holds is False else ""


def _switches(state: PilotState) -> str:
    rows = [
        f"{name} switch: <b>{'on' if on else 'off'}</b>"
        for name, on in (("arm", state.arm_switch), ("override", state.override_switch))
        if on is not None
    ]
    return f'<div style="padding:0 0.8em;font-size:0.85em">{", ".join(rows)}</div>' if rows else ""


def _set_label(button: viser.GuiButtonHandle, label: str) -> None:
    if button.label != label:
        button.label = label


def _set_content(html: viser.GuiHtmlHandle, content: str) -> None:
    if html.content != content:
        html.content = content

"""Mapping files: contents, use with a joystick, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.transmitter.channels import CENTRE, HIGH, LOW
from rosflight_py_sim.transmitter.mapping import Mapping, MappingError, example, load_mappings, mapping_for

SHIPPED = share_directory() / "config" / "joysticks.yaml"
STICKS = "  roll: {axis: 0}\n  pitch: {axis: 1}\n  throttle: {axis: 2}\n  yaw: {axis: 3}\n"
HEAD = "- name: Mine\n  matches: ['*mine*']\n"


class FakeJoystick:
    """A joystick held in a position."""

    def __init__(self, axes: dict[int, float] | None = None, pressed: set[int] | None = None) -> None:
        self.axes = axes or {}
        self.pressed = pressed or set()

    def get_axis(self, axis_number: int, /) -> float:
        return self.axes.get(axis_number, 0.0)

    def get_button(self, button: int, /) -> bool:
        return button in self.pressed


def loaded(folder: Path, text: str) -> list[Mapping]:
    file = folder / "mine.yaml"
    file.write_text(text)
    return load_mappings(file)


def shipped(joystick_name: str) -> Mapping:
    mapping = mapping_for(joystick_name, load_mappings(SHIPPED))
    assert mapping is not None, joystick_name
    return mapping


@pytest.mark.parametrize(
    ("joystick_name", "mapping_name"),
    [
        ("FrSky Taranis Joystick", "FrSky Taranis Q X7"),
        ("OpenTX FrSky Taranis Joystick", "FrSky Taranis Q X7"),
        ("OpenTX RM TX16S Joystick", "RadioMaster TX16S"),
        ("EdgeTX Radiomaster TX16S Joystick", "RadioMaster TX16S"),
        ("OpenTX Radiomaster Boxer Joystick", "RadioMaster Boxer"),
        ("Microsoft X-Box 360 pad", "Xbox controller"),
        ("Xbox Series X Controller", "Xbox controller"),
        ("GREAT PLANES InterLink Elite", "RealFlight InterLink"),
    ],
)
def test_common_transmitters_are_recognised_by_sdl_name(joystick_name: str, mapping_name: str) -> None:
    assert shipped(joystick_name).name == mapping_name


def test_other_joysticks_are_not_recognised() -> None:
    assert mapping_for("Logitech Extreme 3D", load_mappings(SHIPPED)) is None


def test_opentx_transmitter_channels_pass_through_unchanged() -> None:
    position = {0: 1.0, 1: -1.0, 2: -1.0, 3: 0.5, 4: 1.0, 5: -1.0, 6: 0.0}
    for name in ("FrSky Taranis Joystick", "OpenTX RM TX16S Joystick", "OpenTX Radiomaster Boxer Joystick"):
        assert shipped(name).read(FakeJoystick(position)) == [2000, 1000, 1000, 1750, 2000, 1000, 1500, 1500]


def test_xbox_gamepad_stick_directions_are_conventional() -> None:
    pad = shipped("Microsoft X-Box 360 pad")
    # The kernel's y axis of a thumb stick points down: pulled back is positive, and so is nose up.
    assert pad.read(FakeJoystick({3: 1.0, 4: 1.0, 1: -1.0, 0: 1.0}))[:4] == [HIGH, HIGH, HIGH, HIGH]
    assert pad.read(FakeJoystick({3: -1.0, 4: -1.0, 1: 1.0, 0: -1.0}))[:4] == [LOW, LOW, LOW, LOW]


def test_xbox_gamepad_starts_disarmed_in_pilot_control_and_buttons_toggle_switches() -> None:
    pad, held = shipped("Microsoft X-Box 360 pad"), FakeJoystick()
    assert pad.read(held)[4:] == [LOW, HIGH, HIGH, CENTRE]
    held.pressed = {0, 1}
    assert pad.read(held)[4:6] == [HIGH, LOW]
    assert pad.read(held)[4:6] == [HIGH, LOW]
    held.pressed = set()
    assert pad.read(held)[4:6] == [HIGH, LOW]
    held.pressed = {0}
    assert pad.read(held)[4:6] == [LOW, LOW]


def test_button_already_pressed_at_connection_is_ignored() -> None:
    pad, held = shipped("Microsoft X-Box 360 pad"), FakeJoystick(pressed={0})
    assert pad.read(held)[4] == LOW
    held.pressed = set()
    pad.read(held)
    held.pressed = {0}
    assert pad.read(held)[4] == HIGH


def test_interlink_throttle_axis_is_reversed_and_its_switches_are_buttons() -> None:
    interlink = shipped("GREAT PLANES InterLink Elite")
    position = FakeJoystick({0: 0.5, 1: -0.5, 2: 1.0, 4: 1.0}, {4, 1})
    assert interlink.read(position) == [1750, 1250, LOW, HIGH, HIGH, LOW, HIGH, LOW]


def test_calibrated_axis_range_is_scaled_to_full_travel_and_clamped(tmp_path: Path) -> None:
    text = HEAD + STICKS.replace("{axis: 0}", "{axis: 0, range: [-0.5, 0.5]}").replace(
        "{axis: 2}", "{axis: 2, range: [0.0, 1.0], reversed: true}"
    )
    (mapping,) = loaded(tmp_path, text)
    assert mapping.read(FakeJoystick({0: 0.25, 2: 0.25}))[:3] == [1750, 1500, 1750]
    assert mapping.read(FakeJoystick({0: 0.9, 2: -0.5}))[:3] == [2000, 1500, 2000]


def test_switches_may_have_three_positions(tmp_path: Path) -> None:
    text = (
        HEAD + STICKS + "  switch_1: {buttons: [4, 5]}\n  switch_2: {button: 6, kind: three_position, start: centre}\n"
    )
    (mapping,) = loaded(tmp_path, text + "  switch_3: {fixed: high}\n")
    held = FakeJoystick()
    assert mapping.read(held)[4:] == [CENTRE, CENTRE, HIGH, CENTRE]
    for pressed, wanted in (({4, 6}, [LOW, HIGH]), ({5}, [HIGH, HIGH]), ({6}, [CENTRE, LOW])):
        held.pressed = pressed
        assert mapping.read(held)[4:6] == wanted


def test_mapping_names_inputs_missing_on_a_joystick() -> None:
    mapping = shipped("OpenTX RM TX16S Joystick")
    assert mapping.lacking(8, 0) == ""
    assert "axis 6" in mapping.lacking(4, 24)
    assert "button 2" in shipped("Microsoft X-Box 360 pad").lacking(6, 2)


def test_suggested_mapping_for_unknown_joystick_is_valid(tmp_path: Path) -> None:
    (mapping,) = loaded(tmp_path, example('Bob\'s "pad" 3: #1 [BT]?'))
    assert mapping.fits('Bob\'s "pad" 3: #1 [BT]?')


BAD = {
    "control_character": ("- name: \x00\n", ["not YAML"]),
    "empty": ("", ["list with one entry"]),
    "not_a_list": ("name: Mine\n", ["list with one entry"]),
    "not_yaml": (HEAD + "  roll: {axis: 0\n", ["line 4", "not YAML"]),
    "entry": ("- 5\n", ["line 1", "5 given"]),
    "unknown_key": (HEAD + STICKS + "  rol: {axis: 0}\n", ["line 7", "'rol'", "roll, pitch"]),
    "missing": (HEAD + "  roll: {axis: 0}\n", ["line 1", "'pitch' is missing"]),
    "twice": (HEAD + STICKS + "  roll: {axis: 5}\n", ["line 7", "'roll' is given twice"]),
    "name": ("- name: 5\n  matches: [a]\n" + STICKS, ["line 1", "'name'", "5 given", "a text"]),
    "matches": ("- name: a\n  matches: a\n" + STICKS, ["line 2", "'matches'", "list of texts"]),
    "control": (HEAD + STICKS.replace("{axis: 1}", "1"), ["line 4", "'pitch'", "1 given", "axis"]),
    "misspelt": (HEAD + STICKS.replace("axis: 1", "axsi: 1"), ["line 4", "'axsi'", "axis"]),
    "no_source": (HEAD + STICKS.replace("axis: 1", "reversed: true"), ["line 4", "none of them", "axis, button"]),
    "two_sources": (HEAD + STICKS.replace("axis: 1", "axis: 1, button: 2"), ["line 4", "axis and button"]),
    "does_not_fit": (HEAD + STICKS.replace("axis: 1", "axis: 1, kind: toggle"), ["line 4", "'kind'", "axis"]),
    "negative": (HEAD + STICKS.replace("axis: 1", "axis: -1"), ["line 4", "'axis'", "-1 given", "0 to 255"]),
    "boolean": (HEAD + STICKS.replace("axis: 1", "axis: true"), ["line 4", "True given"]),
    "range": (HEAD + STICKS.replace("axis: 1", "axis: 1, range: [1, 1]"), ["line 4", "'range'", "different"]),
    "range_nan": (HEAD + STICKS.replace("axis: 1", "axis: 1, range: [.nan, 1]"), ["line 4", "'range'", "two numbers"]),
    "reversed": (HEAD + STICKS.replace("axis: 1", "axis: 1, reversed: 2"), ["line 4", "'reversed'", "true or false"]),
    "kind": (HEAD + STICKS + "  switch_1: {button: 1, kind: latch}\n", ["line 7", "'latch'", "toggle"]),
    "start": (HEAD + STICKS + "  switch_1: {button: 1, start: centre}\n", ["line 7", "'centre'", "low, high"]),
    "momentary": (HEAD + STICKS + "  switch_1: {button: 1, kind: momentary, start: high}\n", ["line 7", "'start'"]),
    "pair": (HEAD + STICKS + "  switch_1: {buttons: [1]}\n", ["line 7", "'buttons'", "two numbers"]),
    "fixed": (HEAD + STICKS + "  switch_1: {fixed: 1234}\n", ["line 7", "1234", "low, centre, high"]),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_file_is_rejected_with_file_line_and_allowed_values(tmp_path: Path, case: str) -> None:
    text, words = BAD[case]
    with pytest.raises(MappingError) as refusal:
        loaded(tmp_path, text)
    for word in ["mine.yaml", *words]:
        assert word in str(refusal.value)


def test_unreadable_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="No such file"):
        load_mappings(tmp_path / "none.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MappingError, match="UTF-8"):
        load_mappings(tmp_path / "binary.yaml")

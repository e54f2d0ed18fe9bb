"""Environments: Gymnasium's check, determinism, options, vectorisation, and the same flight in the graph."""

from __future__ import annotations

import json
import math
import os
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import policy_flights
import pytest
from forked_python import run_forked_python
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.learning import NAMES
from rosflight_py_sim.learning.environment import PolicyEnv
from rosflight_py_sim.learning.episodes import read_episodes
from rosflight_py_sim.parts.policy import PolicyError

FOLDER = Path(__file__).parent
CONFIG = FOLDER.parents[1] / "config"

FAST = {"parameters": {"step_size": 0.01}}
"""Long steps of the simulation, for tests in which the flight does not matter."""


def env_of(name: str, **options: Any) -> PolicyEnv:
    env = gymnasium.make(f"rosflight_py_sim/{name}-v0", **options).unwrapped
    assert isinstance(env, PolicyEnv)
    return env


def rewards_of(env: PolicyEnv, law: Any, decisions: int = 1500) -> tuple[float, dict[str, Any], int]:
    """Sum of the rewards of an episode under a law, its last info, and the number of decisions."""
    observation, total = env.reset(seed=1)[0], 0.0
    for count in range(1, decisions + 1):
        observation, reward, terminated, truncated, info = env.step(law(observation))
        total += reward
        if terminated or truncated:
            return total, info, count
    raise AssertionError(f"no end after {decisions} decisions")


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_no_fault(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name, **FAST).unwrapped)


def test_episode_depends_only_on_root_seed_and_number() -> None:
    wind = {"sim_has_wind": True, "steady_state_wind": [{"uniform": [-3, 3]}, 0.0, 0.0], "step_size": 0.01}
    one, other = (env_of("Hover", parameters={"mass": {"uniform": [3.2, 3.8]}, **wind}) for _ in range(2))
    starts = [one.reset(seed=7)[0], one.reset()[0], one.reset()[0]]
    assert len({start.tobytes() for start in starts}) == 3
    action = np.array([0.1, -0.1, 0.0, 0.0], dtype=np.float32)
    flown = [one.step(action)[0].tobytes() for _ in range(20)]
    second = other.reset(seed=3)[0]
    assert second.tobytes() != starts[0].tobytes()
    third = other.reset(options={"seed": 7, "number": 2})[0]
    assert third.tobytes() == starts[2].tobytes()
    assert [other.step(action)[0].tobytes() for _ in range(20)] == flown


def test_flight_does_not_depend_on_the_vehicles_before() -> None:
    """Vehicles of a process share what depends on parameters alone, in whatever order they fly."""
    numbers = [*range(12)]
    program, environment = str(FOLDER / "drawn_episodes.py"), dict(os.environ)
    flown = []
    for order in (numbers, numbers[::-1], [*numbers[:3], *numbers[:3]]):
        done = run_forked_python([program, *map(str, order)], env=environment, cwd=FOLDER, timeout=100.0)
        assert done.returncode == 0, done.stderr
        flown.append(done.stdout.splitlines())
    assert len({line.split()[1] for line in flown[0]}) == len(numbers)
    assert flown[1][::-1] == flown[0]
    assert flown[2] == 2 * flown[0][:3]


def test_unseeded_environments_differ() -> None:
    starts = [env_of("Hover", **FAST).reset() for _ in range(2)]
    assert starts[0][1]["seed"] != starts[1][1]["seed"]


@pytest.mark.parametrize("actions", ["attitude", "rates", "velocity", "motors"])
@pytest.mark.parametrize("observations", ["truth", "sensors"])
def test_each_action_hovers(actions: str, observations: str) -> None:
    law = policy_flights.Rates() if actions == "rates" else getattr(policy_flights, actions)
    # Motors need faster decisions than commands to the firmware.
    more = {"command_frequency": 200.0} if actions == "motors" else {}
    still = {"initial_position": [0.0, 0.0], "initial_heading": 0.0, "step_size": 0.005}
    env = env_of("Hover", actions=actions, observations=observations, time_limit=6.0, parameters={**still, **more})
    _, info, _ = rewards_of(env, law)
    assert "crash" not in info
    assert info["distance"] < (0.6 if observations == "truth" else 3.0)


def test_laws_do_the_tasks() -> None:
    _, passed, _ = rewards_of(env_of("Waypoints", actions="velocity", **FAST), policy_flights.velocity)
    assert (passed["passed"], passed["is_success"]) == (4, True)

    def descent(observation: Any) -> Any:
        ahead, right, down = 0.12 * observation[:3]
        return np.array([ahead, right, min(max(down, 0.15), 0.3), observation[15]])

    reward, landed, _ = rewards_of(env_of("Landing", actions="velocity", **FAST), descent)
    assert landed["is_success"]
    assert reward > 10.0

    def pursuit(observation: Any) -> Any:
        ahead, right, down = 0.15 * observation[6:9]
        return np.array([ahead, right, down, observation[15]])

    _, tracked, count = rewards_of(env_of("Tracking", actions="velocity", **FAST), pursuit)
    assert count == 1200
    assert tracked["distance"] < 1.2
    _, dived, _ = rewards_of(env_of("DepthHeading"), policy_flights.thrusters)
    assert dived["distance"] < 0.1
    _, sensed, _ = rewards_of(env_of("DepthHeading", observations="sensors"), policy_flights.thrusters)
    assert sensed["distance"] < 0.15


def test_hover_reward_is_the_documented_one() -> None:
    env = env_of("Hover", parameters={"initial_position": [0.0, 0.0], "initial_heading": 60.0})
    env.reset(seed=2)
    action = np.array([0.0, 0.0, 0.0, 0.4], dtype=np.float32)
    _, reward, _, _, info = env.step(action)
    held = math.exp(-info["distance"]) * 0.5 * (1.0 + math.cos(math.radians(60.0)))
    steady = held / (1.0 + 0.2 * np.sum(np.square(env.world.state.angular_velocity)))
    # The vehicle yaws by some hundredths of a degree within a decision.
    assert reward == pytest.approx(steady - 0.05 * 0.4**2 / 4.0, abs=1e-3)


def test_episode_ends_out_of_bounds() -> None:
    _, info, _ = rewards_of(env_of("Hover", farthest=4.0, **FAST), lambda _: np.array([0.0, -1.0, 0.0, 0.3]))
    assert info["crash"].endswith("m from the goal")
    assert not info["is_success"]
    _, info, _ = rewards_of(env_of("Hover", **FAST), lambda _: np.array([0.0, 0.0, 0.0, -1.0]))
    assert info["crash"].endswith("m above the origin")


def test_options_override_the_file() -> None:
    scenario = read_episodes(
        "hover",
        {
            "vehicle": "hexarotor",
            "parameter_files": [str(CONFIG / "wind.yaml")],
            "parameters": {"initial_altitude": 5.0, "mass": {"uniform": [3.0, 4.0]}},
            "firmware": {"PID_ROLL_ANG_P": {"choice": [6.0, 7.0]}},
            "variables": {"loss": {"uniform": [10, 60]}},
            "failures": ["motor 2 wrong by -{loss} at 1"],
        },
    ).scenario(5, 0)
    settings, member = scenario.settings, scenario.members[0]
    assert member.vehicle.name == "hexarotor"
    assert settings["initial_altitude"] == 5.0
    assert 3.0 <= settings["mass"] <= 4.0
    assert settings["failures"][0].startswith("motor 2 wrong by -")
    assert member.settings["firmware_parameters"][0] in ("PID_ROLL_ANG_P 6.0", "PID_ROLL_ANG_P 7.0")
    assert scenario.files == [str(CONFIG / "wind.yaml")]


def test_environment_of_your_own_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "high.yaml"
    file.write_text(
        "description: Hover high\nactions: velocity\nparameters: {goal_position: [0.0, 0.0, -50.0], step_size: 0.01,\n"
        "  starts_in_flight: true, starts_on_ground: false, initial_altitude: 49.0}\n"
    )
    env = gymnasium.make("rosflight_py_sim/Hover-v0", environment=str(file)).unwrapped
    assert env.reset(seed=0)[0][:3].tolist() == [0.0, 0.0, -1.0]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"environment": "fly"},
            "environment 'fly' given; allowed: depth_heading, hover, landing, tracking, waypoints",
        ),
        ({"colour": "red"}, "options, line 1: colour: an unknown key given; allowed: .*vehicle, actions"),
        ({"actions": "thrust"}, "options, line 1: actions: thrust given; allowed: text, one of motors, attitude"),
        ({"vehicle": "auv"}, "actions 'attitude' given; allowed: for vehicle 'auv': motors"),
        ({"vehicle": "zeppelin"}, "options, line 1: vehicle: .*zeppelin"),
        ({"parameters": {"mas": 3.0}}, "options, line 2: parameters.mas: .*did you mean 'mass'"),
        ({"parameters": {"mass": {"uniform": [-1, 3]}}}, "options, line .*parameters.mass"),
        ({"failures": ["motor 9 off at 1"]}, "failure 'motor 9 off at 1': motor 9 given; allowed for this vehicle"),
        ({"parameters": {"mass": np.float64(3.0)}}, "options .* given; allowed: numbers, texts, truth values, lists"),
    ],
)
def test_option_that_is_not_allowed_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        PolicyEnv(**{"environment": "hover", **options})


def test_episodes_take_no_further_options() -> None:
    with pytest.raises(ParameterError, match=r"options \['farthest'\] given with episodes that have been read"):
        PolicyEnv(read_episodes("hover", {}), farthest=3.0)


def test_render_mode_is_refused() -> None:
    with pytest.raises(
        TypeError, match="render_mode 'human' given; allowed: None, because the node graph shows flights"
    ):
        PolicyEnv("hover", render_mode="human")


def test_reset_refuses_unknown_options_and_step_refuses_actions_of_another_size() -> None:
    env = env_of("Hover", **FAST)
    with pytest.raises(ParameterError, match=r"options \['wind'\] of reset given; allowed: seed, number"):
        env.reset(options={"wind": 3})
    env.reset(seed=0)
    with pytest.raises(PolicyError, match="allowed: 4 finite numbers from -1 to 1"):
        env.step(np.zeros(3, dtype=np.float32))


@pytest.mark.parametrize("actions", ["attitude", "rates", "velocity", "motors"])
@pytest.mark.parametrize("observations", ["truth", "sensors"])
def test_episode_is_the_same_by_compiled_steps_and_by_messages(actions: str, observations: str) -> None:
    compiled, by_messages = (
        env_of(
            "Hover",
            actions=actions,
            observations=observations,
            parameter_files=[str(CONFIG / "wind.yaml")],
            parameters={"command_frequency": 70.0, "goal_position": [{"uniform": [-1, 1]}, 0.0, -5.0]},
        )
        for _ in range(2)
    )
    rng = np.random.default_rng(3)
    for number in range(2):
        for env in (compiled, by_messages):
            env.reset(options={"seed": 7, "number": number})
        by_messages.world.pipeline.compiles = False
        for _ in range(60):
            action = rng.uniform([-0.3, -0.3, -1.0, -0.3], [0.3, 0.3, 1.0, 0.3]).astype(np.float32)
            (seen, *result), (expected, *expected_result) = (env.step(action) for env in (compiled, by_messages))
            assert seen.tobytes() == expected.tobytes()
            assert result == expected_result
        assert compiled.world.pipeline.is_compiled is (actions != "motors" or observations == "truth")
        assert compiled.world.state.truth.tobytes() == by_messages.world.state.truth.tobytes()


SHORT = {"time_limit": 0.1, "parameters": {"step_size": 0.01}}


@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector_environment_resets_as_its_mode_says(mode: AutoresetMode) -> None:
    envs = gymnasium.make_vec("rosflight_py_sim/Hover-v0", num_envs=3, autoreset_mode=mode.value, **SHORT)
    assert type(envs.unwrapped).__name__ == "PolicyVectorEnv"
    assert envs.metadata["autoreset_mode"] is mode
    alone = env_of("Hover", **SHORT)
    first, _ = envs.reset(seed=4)
    assert first[1].tobytes() == alone.reset(seed=5)[0].tobytes()
    actions = np.zeros((3, 4), dtype=np.float32)
    for _ in range(5):
        observations, _, _, truncations, infos = envs.step(actions)
        ended, *_ = alone.step(actions[1])
    assert truncations.tolist() == [True] * 3
    begun = alone.reset()[0]
    if mode is AutoresetMode.SAME_STEP:
        assert infos["final_obs"][1].tobytes() == ended.tobytes()
        assert observations[1].tobytes() == begun.tobytes()
        return
    assert observations[1].tobytes() == ended.tobytes()
    if mode is AutoresetMode.NEXT_STEP:
        observations, rewards, *_ = envs.step(actions)
        assert rewards.tolist() == [0.0] * 3
    else:
        observations, _ = envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert observations[1].tobytes() == begun.tobytes()


def test_make_vec_also_wraps_single_environments() -> None:
    envs = gymnasium.make_vec("rosflight_py_sim/Hover-v0", num_envs=2, vectorization_mode="sync", **SHORT)
    assert envs.reset(seed=1)[0].shape == (2, 21)


def test_episode_is_the_same_in_the_graph(tmp_path: Path, ros_domain: int) -> None:
    options = {
        "parameter_files": [str(CONFIG / "wind.yaml")],
        "parameters": {"mass": {"uniform": [3.2, 3.8]}, "command_frequency": 100.0},
        "variables": {"time": {"uniform": [0.5, 1.0]}},
        "failures": ["motor 1 wrong by -40 at {time}"],
    }
    env = env_of("Hover", observations="sensors", **options)
    observation, _ = env.reset(options={"seed": 11, "number": 6})
    for _ in range(300):
        observation, *_ = env.step(policy_flights.attitude(observation))
    state = env.world.state
    steps = state.time_ns // 2_500_000
    assert steps >= 1200
    env.write_parameters(tmp_path / "episode.yaml")
    files = str(tmp_path / "episode.yaml"), str(CONFIG / "wind.yaml")
    program = [str(FOLDER / "policy_flights.py"), files[0], "policy_flights:attitude", str(steps), files[1]]
    environment = os.environ | {"ROS_DOMAIN_ID": str(ros_domain), "PYTHONPATH": str(FOLDER)}
    done = run_forked_python(program, env=environment, cwd=FOLDER, timeout=100.0)
    assert done.returncode == 0, done.stderr
    count, _, place = done.stdout.splitlines()[-1].split(maxsplit=2)
    assert (int(count), json.loads(place)) == (steps, state.position_ned.tolist())


def test_underwater_episode_is_the_same_by_compiled_steps_and_by_messages() -> None:
    compiled, by_messages = (env_of("DepthHeading", parameters={"command_frequency": 70.0}) for _ in range(2))
    rng = np.random.default_rng(3)
    for env in (compiled, by_messages):
        env.reset(seed=7)
    by_messages.world.pipeline.compiles = False
    for _ in range(100):
        action = rng.uniform(-0.5, 0.5, compiled.action_space.shape).astype(np.float32)
        (seen, *result), (expected, *expected_result) = (env.step(action) for env in (compiled, by_messages))
        assert seen.tobytes() == expected.tobytes()
        assert result == expected_result
    assert compiled.world.pipeline.is_compiled


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("options", [{}, {"actions": "rates"}, {"actions": "velocity"}, {"observations": "sensors"}])
def test_each_lane_gives_the_results_of_a_single_environment(mode: AutoresetMode, options: dict[str, str]) -> None:
    count = 3
    given: dict[str, Any] = {
        "time_limit": 0.9,
        "farthest": 3.0,
        "parameter_files": [str(CONFIG / "wind.yaml")],
        "parameters": {"mass": {"uniform": [3.2, 3.8]}, "command_frequency": 70.0},
        **options,
    }
    lanes = gymnasium.make_vec("rosflight_py_sim/Hover-v0", num_envs=count, autoreset_mode=mode.value, **given)
    alone = [env_of("Hover", **given) for _ in range(count)]
    rng = np.random.default_rng(5)
    observations, _ = lanes.reset(seed=[3, 4, 5])
    single = [env.reset(seed=3 + lane)[0] for lane, env in enumerate(alone)]
    is_over, ends = np.zeros(count, dtype=bool), 0
    for _ in range(150):
        assert observations.tobytes() == np.array(single).tobytes()
        if mode is AutoresetMode.DISABLED and is_over.any():
            observations, _ = lanes.reset(options={"reset_mask": is_over})
            single = [env.reset()[0] if over else seen for env, over, seen in zip(alone, is_over, single, strict=True)]
            is_over = np.zeros(count, dtype=bool)
            continue
        actions = rng.uniform([-0.9, -0.3, -1.0, -0.3], [0.9, 0.3, 1.0, 0.3], (count, 4)).astype(np.float32)
        observations, rewards, terminations, truncations, infos = lanes.step(actions)
        for lane, env in enumerate(alone):
            if mode is AutoresetMode.NEXT_STEP and is_over[lane]:
                single[lane], expected = env.reset()
                result = [0.0, False, False]
            else:
                single[lane], *result, expected = env.step(actions[lane])
            assert [rewards[lane], terminations[lane], truncations[lane]] == result
            is_over[lane] = result[1] or result[2]
            ends += is_over[lane]
            if mode is AutoresetMode.SAME_STEP and is_over[lane]:
                assert infos["final_obs"][lane].tobytes() == single[lane].tobytes()
                assert infos["final_info"]["distance"][lane] == expected["distance"]
                single[lane], expected = env.reset()
            for key in ("seed", "number", "distance", "passed"):
                assert infos[f"_{key}"][lane]
                assert infos[key][lane] == expected[key]
            assert bool(infos.get("_crash", np.zeros(count))[lane]) is ("crash" in expected)
    assert ends > 3


def test_lane_with_an_action_that_is_no_number_is_refused() -> None:
    lanes = gymnasium.make_vec("rosflight_py_sim/Hover-v0", num_envs=2)
    lanes.reset(seed=1)
    actions = np.zeros((2, 4), dtype=np.float32)
    for _ in range(5):
        lanes.step(actions)
    actions[1, 2] = math.nan
    with pytest.raises(PolicyError, match="allowed: 4 finite numbers from -1 to 1"):
        lanes.step(actions)

"""Example of learning: train a policy to hover in wind, from scratch, and let it fly in the node graph.

    pip install 'rosflight_py_sim[learn,plot]' stable-baselines3 onnx onnxscript
    python docs/examples/learn_hover.py

The training takes less than five minutes on two cores. The program then writes the policy to hover.onnx, flies it to
another place in gusts that it has not met, and prints the path of a picture of that flight. The policy commands roll,
pitch, yaw rate and throttle of ROSflight's firmware from the true motion.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

# The import of the part before the colon registers the environment.
ENVIRONMENT = "rosflight_py_sim.learning:rosflight_py_sim/Hover-v0"

# Wind from any direction, and steps of the simulation twice as long as those of the flight in the graph.
PARAMETERS: dict[str, Any] = {
    "step_size": 0.005,
    "sim_has_wind": True,
    "use_random_wind": False,
    "steady_state_wind": [{"uniform": [-5.0, 5.0]}, {"uniform": [-5.0, 5.0]}, 0.0],
    "turbulence_model": "dryden_8785c",
    "turbulence_wind_speed_20ft": {"uniform": [0.0, 5.0]},
    "mass": {"uniform": [3.3, 3.7]},
}

# Goal of the flight in the graph, in which the policy takes over 5 m above the origin.
GOAL = "[2.0, 1.0, -6.0]"


def trained(decisions: int) -> PPO:
    """Policy after a number of decisions, by proximal policy optimisation with four vehicles."""
    torch.set_num_threads(1)
    envs = make_vec_env(ENVIRONMENT, 4, seed=1, env_kwargs={"parameters": PARAMETERS})
    model = PPO(
        "MlpPolicy",
        envs,
        seed=1,
        n_steps=min(512, decisions // 4),
        batch_size=256,
        n_epochs=8,
        gamma=0.98,
        learning_rate=lambda left: 1e-3 * left,
        policy_kwargs={"net_arch": [64, 64], "log_std_init": -1.0},
        device="cpu",
        verbose=1,
    )
    # The table that it prints after every tenth rollout has the mean reward of an episode as ep_rew_mean.
    model.learn(decisions, log_interval=10)
    envs.close()
    return model


def write_network(model: PPO, file: Path) -> None:
    """Write the mean of the policy's actions, without the value function, as a network in ONNX."""
    policy = model.policy
    network = torch.nn.Sequential(policy.mlp_extractor.policy_net, policy.action_net)
    nothing = torch.zeros(1, *model.observation_space.shape)
    torch.onnx.export(network, (nothing,), str(file), external_data=False, verbose=False)


def main() -> None:
    """Train, write and fly."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decisions", type=int, default=400_000, help="length of the training (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=Path("flights"), help="folder of the files (default: flights)")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output.absolute() / "hover.onnx"
    write_network(trained(options.decisions), file)
    print(f"policy: {file}", flush=True)
    command = [sys.executable, "-m", "rosflight_py_sim", "fly", "--vehicle", "multirotor"]
    command += ["--autopilot", "policy_autopilot", "--output", str(options.output)]
    command += ["--ros-args", "-p", f"policy:={file}", "-p", f"goal_position:={GOAL}"]
    sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()

"""The example of docs/frames.md turns vectors and attitudes into ENU and FLU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.physics.rotations import rotate_to_inertial

PAGE = (Path(__file__).parents[2] / "docs" / "frames.md").read_text(encoding="utf-8")
ENU_OF_NED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
FRD_OF_FLU = np.diag([1.0, -1.0, -1.0])


@pytest.fixture
def example() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(PAGE.split("```python")[1].split("```")[0], "docs/frames.md", "exec"), names)
    return names


def test_vector_is_turned_as_the_matrix_does(example: dict[str, Any]) -> None:
    vector = np.array([1.0, 2.0, 3.0])
    assert example["enu"](*vector) == pytest.approx(ENU_OF_NED @ vector)


@pytest.mark.parametrize("seed", range(5))
def test_attitude_is_turned_as_the_matrices_do(example: dict[str, Any], seed: int) -> None:
    generator = np.random.default_rng(seed)
    quaternion = generator.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    vector_flu = generator.normal(size=3)
    ned = rotate_to_inertial(*quaternion.tolist(), *(FRD_OF_FLU @ vector_flu).tolist())
    enu = rotate_to_inertial(*example["attitude_enu"](*quaternion.tolist()), *vector_flu.tolist())
    # A few roundings of numbers of order 1.
    assert np.allclose(enu, ENU_OF_NED @ ned, atol=1e-14)

"""How colcon builds the example."""

from setuptools import setup

NAME = "my_forces_and_moments"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    package_data={NAME: ["vehicles/*.yaml", "vehicles/parameters/*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", ["launch/balloon.launch.py"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    entry_points={
        "console_scripts": ["balloon = my_forces_and_moments.balloon:main"],
        "rosflight_py_sim.nodes": ["balloon = my_forces_and_moments.balloon:Balloon"],
        "rosflight_py_sim.vehicles": ["my_forces_and_moments = my_forces_and_moments:VEHICLES"],
    },
)

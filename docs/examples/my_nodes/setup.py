"""How colcon builds the example."""

from setuptools import setup

NAME = "my_nodes"

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
        "console_scripts": ["balloon = my_nodes.balloon:main"],
        "rosflight_py_sim.nodes": [
            "balloon = my_nodes.balloon:Balloon",
            "ballast_dynamics = my_nodes.ballast_dynamics:BallastDynamics",
            "breakpoint_time_manager = my_nodes.breakpoint_time_manager:BreakpointTimeManager",
            "dvl_sensors = my_nodes.dvl:DvlSensors",
        ],
        "rosflight_py_sim.vehicles": ["my_nodes = my_nodes:VEHICLES"],
    },
)

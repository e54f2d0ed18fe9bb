"""How colcon builds the example."""

from setuptools import setup

NAME = "my_forces_and_moments"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", ["launch/balloon.launch.py"]),
        (f"share/{NAME}/config", ["config/balloon.yaml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    entry_points={"console_scripts": ["balloon = my_forces_and_moments.balloon:main"]},
)

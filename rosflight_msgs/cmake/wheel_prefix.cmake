# Point CMake and ament at ROS 2 from Python wheels.

find_package(Python3 REQUIRED COMPONENTS Interpreter)

# The wheels' prefix is four folders above lib/pythonX.Y/site-packages/rosidl_parser. sys.prefix would be wrong in an
# isolated build, where the wheels sit in a folder of pip's and only sys.path leads there.
execute_process(
  COMMAND "${Python3_EXECUTABLE}" -c
    "import pathlib, rosidl_parser; print(pathlib.Path(rosidl_parser.__file__).parents[4].as_posix(), end='')"
  OUTPUT_VARIABLE ros_wheel_prefix
  RESULT_VARIABLE import_failed
)
if(import_failed OR NOT EXISTS "${ros_wheel_prefix}/share/ament_index")
  message(FATAL_ERROR
    "The ROS 2 wheels are not installed for ${Python3_EXECUTABLE} (looked in '${ros_wheel_prefix}'). "
    "Let pip build in isolation (its default), or install this package's build requirements first.")
endif()
list(PREPEND CMAKE_PREFIX_PATH "${ros_wheel_prefix}")
set(ENV{AMENT_PREFIX_PATH} "${ros_wheel_prefix}")

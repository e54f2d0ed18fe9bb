# Leave the C++ interfaces and their type supports out of a wheel. Python needs the C ones alone, and the C++ ones take
# more than a third of the build's time. rosidl_default_generators registers all of them.
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

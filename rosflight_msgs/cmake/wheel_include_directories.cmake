# In the ROS 2 wheels the message packages' exported targets name the Python and numpy include folders of the machine
# that built the wheels. CMake refuses a target whose include folder does not exist; nothing here needs those folders.
# Targets of a ROS 2 distribution come out as they went in.
function(drop_missing_include_directories)
  get_directory_property(targets IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    if(NOT target MATCHES "__rosidl_generator_py$")
      continue()
    endif()
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    set(existing "")
    foreach(directory IN LISTS directories)
      if(IS_DIRECTORY "${directory}")
        list(APPEND existing "${directory}")
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${existing}")
  endforeach()
endfunction()

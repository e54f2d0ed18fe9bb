"""What all other rooms use: stamps, units, parameter tables, YAML files, the registry, and the process around them."""

"""ROSflight's MAVLink dialect: table of the messages, and frames of MAVLink 1."""

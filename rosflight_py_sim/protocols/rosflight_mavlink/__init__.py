"""ROSflight's MAVLink dialect: table of the messages, and frames of MAVLink 1.

`pymavlink` is not used: the dialect's table, with a `struct` format for each message and the checksum from the standard
library, is shorter than the definition from which pymavlink would generate its module, and adds no dependency.
"""

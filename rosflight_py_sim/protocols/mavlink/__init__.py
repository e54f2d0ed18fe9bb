"""MAVLink: layouts of messages and frames of versions 1 and 2, for any dialect.

`pymavlink` is not used: a dialect's table, with a `struct` format for each message and the checksum from the standard
library, is shorter than the definition from which pymavlink would generate its module, and adds no dependency.
"""

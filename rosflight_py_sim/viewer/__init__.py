"""What people look at: the picture of a flight (`flight_picture`) and its table in the terminal (`summary_table`)."""

"""What a flight leaves behind: its columns (`flight_log`) and the numbers that sum it up (`flight_summary`)."""

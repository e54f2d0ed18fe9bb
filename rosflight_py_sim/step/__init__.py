"""A step of the simulation without ROS: its topics, the join of inputs, and the parts that answer them."""

"""What makes a graph of nodes: plan, composition, fleet, sidecar processes, time modes, flight controllers, launch."""

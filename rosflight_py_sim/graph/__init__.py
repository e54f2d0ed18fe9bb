"""Assembly of node graphs: plan, composition, fleet, sidecar processes, time modes, flight controllers, launch."""

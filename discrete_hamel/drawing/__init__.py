"""Pictures and films of a trajectory, all in the house style."""

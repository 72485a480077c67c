"""Many steps: simulate and the Trajectory that comes out, what is asked of a run before it starts, and why it stopped.

Stores are in `storage`, many members in `ensemble`. Nothing here knows what a motion keeps.
"""

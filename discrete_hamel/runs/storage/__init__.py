"""Runs on disk: Zarr stores that grow while a run goes on, and can be taken up again after any interruption."""

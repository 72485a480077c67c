"""What the JSON of a store says, as types: `validation.form` holds each entry against them before it is believed."""

from typing import TypedDict

Numbers = float | list["Numbers"]
# Of a system or a scheme; its fields are plain data, or descriptions of the schemes that it is made of.
Described = TypedDict(
    "Described", {"class": str, "fields": dict[str, object], "leaves": dict[str, Numbers], "structure": str}
)
Metadata = dict[str, dict]  # Zarr's, by the name of its file


class MadeFrom(TypedDict):
    """What a run is made from: `manifest.manifest`."""

    format: int
    versions: dict[str, str]
    dtype: str
    system: Described
    equations: dict[str, str]
    scheme: Described | None
    h: float | None
    save_every: int
    start: dict[str, list[float]]


class Manifest(MadeFrom):
    """And how far it is: what `Recording` adds."""

    path: list[str] | None
    finished: int
    plain_until: int
    plain_steps: int
    state: list[Numbers] | None
    failure: list[str] | None

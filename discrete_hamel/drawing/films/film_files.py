"""Films as files: an animated GIF by Pillow, a video by ffmpeg where there is one."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from discrete_hamel._support.console import Progress
from discrete_hamel.drawing.films.film_scene import Scene
from discrete_hamel.drawing.films.painter import Painter
from discrete_hamel.drawing.films.timing import Frames


def gif(scene: Scene, frames: Frames, path: Path, progress: Progress, dots_per_inch: float) -> None:
    """An animated GIF that repeats."""
    write_gif(path, Painter(scene, dots_per_inch).pixels, frames.milliseconds, progress)


def write_gif(path: Path, pixels: Callable[[int], np.ndarray], milliseconds: list[int], progress: Progress) -> None:
    """pixels(0), pixels(1), ... for so long each; one palette for all, so that nothing flickers and little changes."""
    from PIL import Image

    count = len(milliseconds)
    tries = [Image.fromarray(pixels(k)) for k in sorted({0, count // 3, 2 * count // 3, count - 1})]
    together = Image.fromarray(np.concatenate([np.asarray(picture) for picture in tries]))
    palette = together.quantize(128, method=Image.Quantize.MEDIANCUT)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    colours[np.all(colours > 246, axis=1)] = 255  # what is nearly white is white
    palette.putpalette(colours.ravel().tolist())

    def pictures() -> Iterator[Image.Image]:
        for k in range(count):
            progress.at(k)
            yield Image.fromarray(pixels(k)).quantize(palette=palette, dither=Image.Dither.NONE)
        progress.at(count)

    every = pictures()
    first = next(every)
    # GIF counts hundredths of a second.
    ends = np.rint(np.cumsum(milliseconds) / 10).astype(int)
    durations = [int(10 * span) for span in np.diff(ends, prepend=0)]
    first.save(path, save_all=True, append_images=every, duration=durations, loop=0, optimize=True, disposal=1)


def ffmpeg() -> str:
    """The program that makes videos: the system's, or the one that the package imageio-ffmpeg brings."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg  # type: ignore[import-not-found]
    except ImportError:
        raise ImportError(
            "an .mp4 film needs ffmpeg: pip install imageio-ffmpeg (or install ffmpeg); .gif and .html need neither."
        ) from None
    return imageio_ffmpeg.get_ffmpeg_exe()


def mp4(scene: Scene, frames: Frames, path: Path, progress: Progress, dots_per_inch: float) -> None:
    """A video (H.264), with each picture as often as its node stays."""
    painter = Painter(scene, dots_per_inch)
    height, width, _ = painter.pixels(0).shape
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{frames.rate:g}", "-i", "-"]
    out = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path)]
    command = [ffmpeg(), "-y", "-loglevel", "error", *raw, *out]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin is not None
        try:
            for k, stay in enumerate(frames.stay):
                picture = painter.pixels(k).tobytes()
                for _ in range(stay):
                    program.stdin.write(picture)
                progress.at(k + 1)
            _, said = program.communicate()
        except BrokenPipeError:
            _, said = program.communicate()
    if program.returncode:
        raise OSError(f"ffmpeg could not write {path}: {said.decode(errors='replace').strip()}")

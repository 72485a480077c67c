"""Films as files: each opens as what it is, with its frames; the page plays in a browser, the video in a player."""

import json
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib

matplotlib.use("Agg")
from film_samples import sampled
from PIL import Image, ImageSequence

import discrete_hamel as dh
from discrete_hamel._support.console import Progress
from discrete_hamel.drawing.films import film_files, film_scene, player, timing
from discrete_hamel.drawing.films.painter import Painter


def test_a_gif_has_its_frames(tmp_path):
    run, _ = sampled("RollingDisk")
    path = run.animate(tmp_path / "disk.gif")
    with Image.open(path) as film:
        pictures = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]
        assert film.n_frames == 26
        assert film.info["loop"] == 0
        assert film.info["duration"] == 40
    assert all(np.any(a != b) for a, b in zip(pictures, pictures[1:], strict=False))
    assert np.all(pictures[0][-3, 3] == 255)  # white is white
    shown = timing.frames(run)
    painter = Painter(film_scene.scene(run, shown.nodes))
    assert np.mean(np.abs(pictures[12].astype(float) - painter.pixels(12))) < 2.0  # of 255: one palette for all frames


def test_an_html_film_holds_the_motion_and_needs_nothing_else(tmp_path):
    run, _ = sampled("ChaplyginSleigh")
    path = run.animate(tmp_path / "sleigh.html", seconds=0.4)
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=|https?:|@import|url\(", page)
    film = json.loads(re.search(r"const film = (\{.*\});", page).group(1))
    assert len(film["frames"]) == len(film["captions"]) == len(film["milliseconds"]) == 11
    scene = film_scene.scene(run, timing.frames(run, 0.4).nodes)
    sheet = player.Sheet(scene)
    style, numbers, until, _ = film["traces"][0]
    assert film["styles"][style][1] == dh.plots.VERMILLION
    places = np.array(numbers).reshape(-1, 2)[until[-1] - 1] / sheet.unit
    np.testing.assert_allclose([sheet.left + places[0], sheet.top - places[1]], run.q[-1, 1:], atol=1 / sheet.unit)


def test_an_mp4_is_written_by_ffmpeg_picture_by_picture(tmp_path, monkeypatch):
    """With a stand-in for ffmpeg that counts what it is given."""
    run, _ = sampled("ChaplyginSleigh")
    count = f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'w').write(str(len(sys.stdin.buffer.read())))\n"
    program = tmp_path / "ffmpeg"
    program.write_text(count)
    program.chmod(0o755)
    monkeypatch.setattr(film_files, "ffmpeg", lambda: str(program))
    path = run.animate(tmp_path / "sleigh.mp4", seconds=0.2)
    height, width, _ = Painter(film_scene.scene(run, timing.frames(run, 0.2).nodes)).pixels(0).shape
    assert height % 2 == width % 2 == 0
    assert int(path.read_text()) == 6 * 3 * height * width
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write('no such codec')\nsys.exit(3)\n")
    with pytest.raises(OSError, match="no such codec"):
        run.animate(path, seconds=0.2)


def _a_video_program():
    try:
        return film_files.ffmpeg()
    except ImportError:
        return None


@pytest.mark.skipif(_a_video_program() is None, reason="no ffmpeg here, and no imageio-ffmpeg")
def test_a_real_mp4_plays_every_frame(tmp_path):
    run, _ = sampled("ChaplyginSleigh")
    path = run.animate(tmp_path / "sleigh.mp4", seconds=0.4)
    read = subprocess.run(
        [film_files.ffmpeg(), "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True
    )
    assert read.returncode == 0
    assert b"h264" in read.stderr
    assert b"25 fps" in read.stderr
    painter = Painter(film_scene.scene(run, timing.frames(run, 0.4).nodes))
    height, width, _ = painter.pixels(0).shape
    pictures = np.frombuffer(read.stdout, np.uint8).reshape(-1, height, width, 3)
    assert len(pictures) == 11
    assert np.mean(np.abs(pictures[-1].astype(float) - painter.pixels(10))) < 4.0  # of 255: the codec loses a little


def test_the_package_imageio_ffmpeg_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(film_files.shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", SimpleNamespace(get_ffmpeg_exe=lambda: "/its/own/ffmpeg"))
    assert film_files.ffmpeg() == "/its/own/ffmpeg"


SHOWN = """<script>requestAnimationFrame = show => setTimeout(() => show(performance.now()), 16);</script>
<title>"""  # a browser without a window draws no frames of its own
PRESSED = """<script>
const said = [], later = next => setTimeout(next, 400);
later(() => { said.push(+at.value > 0); play.click(); const stopped = at.value;
later(() => { said.push(at.value === stopped, play.textContent === "play");
at.value = 7; at.dispatchEvent(new Event("input")); said.push(caption.textContent === film.captions[7]); play.click();
later(() => { said.push(at.value !== "7", play.textContent === "pause"); document.title = said.join(" "); }) }) });
</script>"""
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_the_html_player_plays_pauses_and_goes_where_the_slider_is(tmp_path):
    run, _ = sampled("ChaplyginSleigh")
    path = run.animate(tmp_path / "sleigh.html", seconds=10.0)
    page = path.read_text(encoding="utf-8").replace("<title>", SHOWN, 1).replace("</html>", PRESSED + "</html>")
    path.write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    ran = subprocess.run([BROWSER, *options, path.as_uri()], capture_output=True, text=True, timeout=60, check=False)
    assert re.search("<title>(.*)</title>", ran.stdout).group(1) == "true true true true true true"


def test_without_ffmpeg_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(film_files.shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ImportError, match="pip install imageio-ffmpeg"):
        sampled("ChaplyginSleigh")[0].animate(tmp_path / "sleigh.mp4")


def test_without_matplotlib_html_works_and_gif_says_what_to_install(tmp_path, monkeypatch):
    run, _ = sampled("ChaplyginSleigh")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert run.animate(tmp_path / "sleigh.html", seconds=0.2).stat().st_size > 1000
    with pytest.raises(ImportError, match=r'pip install "discrete_hamel\[plots\]"'):
        run.animate(tmp_path / "sleigh.gif")


def test_long_films_show_progress(tmp_path):
    class Watched(Progress):
        seen: list[int] = []

        def at(self, done):
            self.seen.append(done)

    run, scene = sampled("ChaplyginSleigh")
    shown = timing.Frames(np.array([0, 50, 99, 100]), np.ones(4, int), 25.0)
    with Watched(4, True, unit="frames") as watched:
        film_files.gif(scene, shown, tmp_path / "x.gif", watched, 40)
        player.html(scene, shown, tmp_path / "x.html", watched, 40)
    assert watched.seen == [0, 1, 2, 3, 4, 1, 2, 3, 4]

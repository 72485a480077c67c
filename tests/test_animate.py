"""Films: a body is where the motion has it, at its time, within the picture; and files open as what they are."""

import json
import re
import subprocess
import sys
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib

matplotlib.use("Agg")
from PIL import Image, ImageSequence
from scipy.spatial.transform import Rotation

import discrete_hamel as dh
from discrete_hamel.animate import pieces, player, scenes, timing, writers
from discrete_hamel.animate.cameras import FromAbove, looking_at
from discrete_hamel.animate.painter import Painter
from discrete_hamel.animate.pieces import Eye
from discrete_hamel.progress import Progress
from discrete_hamel.systems import outlines


@cache
def sampled(name):
    """A short run of the sample motion, and its scene in a few frames."""
    system = getattr(dh.systems, name)()
    run = dh.simulate(system, **system.sample(), steps=100)
    return run, scenes.scene(run, np.array([0, 50, 99, 100]))


def test_nothing_of_one_frame_stays_in_the_next():
    _, scene = sampled("RollingDisk")
    fresh, used = Painter(scene, 50), Painter(scene, 50)
    used.pixels(0)
    np.testing.assert_array_equal(used.pixels(3), fresh.pixels(3))


def test_the_plane_has_equal_units_both_ways():
    """A blade of length 0.6 in the picture is so long, whichever way it points."""
    run, scene = sampled("ChaplyginSleigh")
    painter = Painter(scene, 100)
    box = painter.axes.get_window_extent()
    left, right, bottom, top = scene.box
    assert box.width / (right - left) == pytest.approx(box.height / (top - bottom), rel=1e-6)
    (trace,) = scene.traces
    np.testing.assert_allclose(trace.points[-1], run.q[-1, 1:], atol=1e-14)


def test_traces_lead_to_the_body():
    run, scene = sampled("RollingDisk")
    (trace,) = scene.traces
    assert trace.until[-1] == len(trace.points)
    contact = next(shape for shape in run.system.shapes(run.q[50]) if isinstance(shape, outlines.Contact))
    np.testing.assert_allclose(np.asarray(contact), [[*run.q[50, 3:], 0.0]], atol=1e-14)
    found = trace.points[trace.until[1] - 1]
    dots = [piece for piece in scene.bodies(1) if piece.fill == dh.plots.VERMILLION]
    np.testing.assert_allclose(dots[0].points[:-1].mean(axis=0), found, atol=1e-9)


def test_the_contact_of_a_rolling_body_is_its_lowest_point():
    for name, lean in (
        ("RollingBody", 1.0),
        ("ChaplyginSphere", 2.0),
        ("RollingDiskOnRotations", 1.2),
        ("Rattleback", 0.3),
    ):
        attitude = Rotation.from_rotvec([lean, 0.1, 0.4]).as_matrix()
        shapes = getattr(dh.systems, name)().shapes(np.array([*attitude.ravel(), 0.7, -0.2]))
        surface = next(shape for shape in shapes if isinstance(shape, outlines.Surface))
        contact = next(shape for shape in shapes if isinstance(shape, outlines.Contact))
        lowest = np.asarray(surface)[np.argmin(np.asarray(surface)[:, 2])]
        size = np.ptp(np.asarray(surface), axis=0).max()
        assert -1e-12 * size < lowest[2] < 0.03 * size, name  # the grid of points need not have the contact itself
        assert np.linalg.norm(lowest[:2] - np.asarray(contact)[0, :2]) < 0.25 * size, name


# What is seen: hidden faces, distances.


def test_a_closed_surface_shows_its_near_side_only():
    eye = Eye(looking_at(-np.ones(3), np.ones(3), 0.0), 3.0)
    ball = outlines.ellipsoid(np.eye(3), np.ones(3))
    faces = len(pieces.placed(ball, eye))
    assert 0.35 * 12 * 24 < faces < 0.5 * 12 * 24  # a perspective eye sees less than half of a ball
    open_ball = outlines.Surface.of(np.asarray(ball).reshape(13, 25, 3), closed=False)
    assert len(pieces.placed(open_ball, eye)) > 1.8 * faces


def test_the_nearer_of_two_is_drawn_later_and_larger():
    camera = looking_at(-np.ones(3), np.ones(3), 0.0)
    toward = camera.axes[2]
    near, far = (camera.view(np.array([s * toward, s * toward + camera.axes[0]])) for s in (1.0, -1.0))
    assert np.all(near[1] < far[1])
    assert np.ptp(near[0][:, 0]) > np.ptp(far[0][:, 0])
    np.testing.assert_allclose(camera.view(camera.centre[None])[0], [[0.0, 0.0]], atol=1e-15)


def test_a_line_behind_a_ball_is_hidden_and_one_before_it_is_not():
    eye = Eye(looking_at(-np.ones(3), np.ones(3), 0.0), 3.0)
    ball = pieces.placed(outlines.ellipsoid(np.eye(3), np.ones(3)), eye)
    toward, across = eye.camera.axes[2], eye.camera.axes[0]
    for side, hidden in ((1.5, False), (-1.5, True)):
        line = pieces.placed(np.stack([side * toward - 0.2 * across, side * toward + 0.2 * across]), eye)
        assert (min(d for d, _ in line) > max(d for d, _ in ball)) == hidden
        assert (max(d for d, _ in line) < min(d for d, _ in ball)) == (not hidden)


def test_kinds_survive_motion_and_stay_polylines():
    ball = outlines.ellipsoid(np.eye(3), np.ones(3)) * 2.0 + np.ones(3)
    assert isinstance(ball, outlines.Surface)
    assert ball.columns == 25
    assert ball.closed
    assert isinstance(outlines.blade(0.3, 1.0, 2.0, 0.1) + 1.0, outlines.Blade)
    patch = pieces.sized(outlines.patch(np.zeros(3), np.eye(3)[0], np.eye(3)[1]), 100.0)
    assert np.linalg.norm(np.ptp(np.asarray(patch), axis=0)) == pytest.approx(12.0)
    kept = outlines.segment((0.0, 0.0), (1.0, 0.0))
    assert pieces.sized(kept, 100.0) is kept  # what has a size keeps it
    assert isinstance(FromAbove().view(kept)[0], np.ndarray)


# Time.


@pytest.mark.parametrize(("h", "steps"), [(0.01, 200), (0.004, 500), (0.08, 25)])
def test_frames_come_at_their_time_whatever_the_step(h, steps):
    system = dh.systems.ChaplyginSleigh()
    run = dh.simulate(system, q=[0.1, 0, 0], xi=[1.5, -0.3], h=h, steps=steps)
    shown = timing.frames(run)
    assert shown.stay.sum() == 51  # two seconds of 25, and the last
    begins = np.append(0, np.cumsum(shown.stay))[:-1] / 25
    ends = np.append(begins[1:], 2.04) - 0.04
    for node, begin, end in zip(shown.nodes, begins, ends, strict=True):
        assert abs(run.t[node] - 0.5 * (begin + end)) <= max(h / 2, 0.02) + 1e-12
    assert sum(shown.milliseconds) == 51 * 40
    assert len(timing.frames(run, seconds=0.4).nodes) == 11


def test_a_failed_end_is_left_out_and_backwards_is_forwards_in_the_film():
    run, _ = sampled("ChaplyginSleigh")
    q = run.q.copy()
    q[60:] = np.nan
    assert timing.frames(run.replace(q=q)).nodes[-1] == 59
    back = dh.simulate(run.system, run.q[-1], run.xi[-1], h=-0.01, steps=100)
    np.testing.assert_array_equal(timing.frames(back).nodes, timing.frames(run).nodes)


# Files.


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
    painter = Painter(scenes.scene(run, shown.nodes))
    assert np.mean(np.abs(pictures[12].astype(float) - painter.pixels(12))) < 2.0  # of 255: one palette for all frames


def test_an_html_film_holds_the_motion_and_needs_nothing_else(tmp_path):
    run, _ = sampled("ChaplyginSleigh")
    path = run.animate(tmp_path / "sleigh.html", seconds=0.4)
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=|https?:|@import|url\(", page)
    film = json.loads(re.search(r"const film = (\{.*\});", page).group(1))
    assert len(film["frames"]) == len(film["captions"]) == len(film["milliseconds"]) == 11
    scene = scenes.scene(run, timing.frames(run, 0.4).nodes)
    sheet = player.Sheet(scene)
    style, numbers, until = film["traces"][0]
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
    monkeypatch.setattr(writers, "ffmpeg", lambda: str(program))
    path = run.animate(tmp_path / "sleigh.mp4", seconds=0.2)
    height, width, _ = Painter(scenes.scene(run, timing.frames(run, 0.2).nodes)).pixels(0).shape
    assert height % 2 == width % 2 == 0
    assert int(path.read_text()) == 6 * 3 * height * width
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write('no such codec')\nsys.exit(3)\n")
    with pytest.raises(OSError, match="no such codec"):
        run.animate(path, seconds=0.2)


def test_without_ffmpeg_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(writers.shutil, "which", lambda name: None)
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
        writers.gif(scene, shown, tmp_path / "x.gif", watched, 40)
        player.html(scene, shown, tmp_path / "x.html", watched, 40)
    assert watched.seen == [0, 1, 2, 3, 4, 1, 2, 3, 4]


# Refusals, and systems of one's own.


def test_refusals(tmp_path):
    run, _ = sampled("ChaplyginSleigh")
    with pytest.raises(ValueError, match=r"\.gif, \.html, \.mp4; 'run\.avi' ends in \.avi"):
        run.animate(tmp_path / "run.avi")
    with pytest.raises(ValueError, match="no folder"):
        run.animate(tmp_path / "nowhere" / "run.gif")
    with pytest.raises(ValueError, match="more than 0 seconds"):
        run.animate(tmp_path / "run.gif", seconds=-1.0)
    with pytest.raises(ValueError, match="frames a second"):
        run.animate(tmp_path / "run.gif", frames_a_second=0.0)
    with pytest.raises(ValueError, match="nothing moves"):
        timing.frames(dh.simulate(run.system, run.q[0], run.xi[0], h=0.01, steps=0))
    with pytest.raises(ValueError, match="it is reduced"):
        dh.animate.shapes_of(dh.systems.ReducedSuslov(), ())


def test_a_system_of_ones_own_is_a_point_or_says_what_it_needs():
    class Slider(dh.System):
        rank = 2
        coordinates = ("x", "y")

        def lagrangian(self, q, xi):  # noqa: ARG002
            return 0.5 * xi @ xi

        def frame(self, q):  # noqa: ARG002
            return jnp.eye(2)

    (point,) = dh.animate.shapes_of(Slider(), [3.0, 4.0])(np.array([3.0, 4.0]))
    assert isinstance(point, outlines.Point)
    np.testing.assert_array_equal(np.asarray(point), [[3.0, 4.0]])
    slowed = dh.forced(Slider(), lambda q, xi: -0.1 * xi)
    assert isinstance(dh.animate.shapes_of(slowed, [3.0, 4.0])(np.array([3.0, 4.0]))[0], outlines.Point)
    Slider.coordinates = ("a", "b")
    with pytest.raises(ValueError, match=r"method shapes\(self, q\)"):
        dh.animate.shapes_of(Slider(), [3.0, 4.0])


def test_a_picture_at_one_node():
    run, _ = sampled("RollingDisk")
    figure = dh.animate.picture(run, node=50)
    assert "t = 0.50" in {text.get_text().split("    ")[0] for text in figure.texts}


def test_matplotlib_is_not_loaded_before_a_film():
    code = "import sys, discrete_hamel, discrete_hamel.animate.writers; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Films: a body is where the motion has it, at its time, within the picture."""

import re
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib

matplotlib.use("Agg")
from film_samples import sampled
from scipy.spatial.transform import Rotation

import discrete_hamel as dh
from discrete_hamel.drawing.films import closeup, film_scene, projection, timing
from discrete_hamel.drawing.films.film_camera import FromAbove, looking_at
from discrete_hamel.drawing.films.painter import Painter
from discrete_hamel.drawing.films.projection import Eye
from discrete_hamel.systems._blocks import outlines


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
    faces = len(projection.place(ball, eye))
    assert 0.35 * 12 * 24 < faces < 0.5 * 12 * 24  # a perspective eye sees less than half of a ball
    open_ball = outlines.Surface.of(np.asarray(ball).reshape(13, 25, 3), closed=False)
    assert len(projection.place(open_ball, eye)) > 1.8 * faces


def test_the_nearer_of_two_is_drawn_later_and_larger():
    camera = looking_at(-np.ones(3), np.ones(3), 0.0)
    toward = camera.axes[2]
    near, far = (camera.view(np.array([s * toward, s * toward + camera.axes[0]])) for s in (1.0, -1.0))
    assert np.all(near[1] < far[1])
    assert np.ptp(near[0][:, 0]) > np.ptp(far[0][:, 0])
    np.testing.assert_allclose(camera.view(camera.centre[None])[0], [[0.0, 0.0]], atol=1e-15)


def test_a_line_behind_a_ball_is_hidden_and_one_before_it_is_not():
    eye = Eye(looking_at(-np.ones(3), np.ones(3), 0.0), 3.0)
    ball = projection.place(outlines.ellipsoid(np.eye(3), np.ones(3)), eye)
    toward, across = eye.camera.axes[2], eye.camera.axes[0]
    for side, hidden in ((1.5, False), (-1.5, True)):
        line = projection.place(np.stack([side * toward - 0.2 * across, side * toward + 0.2 * across]), eye)
        assert (min(d for d, _ in line) > max(d for d, _ in ball)) == hidden
        assert (max(d for d, _ in line) < min(d for d, _ in ball)) == (not hidden)


def test_a_ball_covers_what_is_behind_it_and_not_what_is_before_it():
    """The hoop's wire passes under the ball that rolls on it, in front of one that hangs inside."""
    eye = Eye(looking_at(-np.ones(3), np.ones(3), 0.0), 3.0)
    toward, across, up = eye.camera.axes[2], eye.camera.axes[0], eye.camera.axes[1]
    places = np.array([s * toward + x * across + y * up for s in (1.5, -1.5) for x in (0, 0.9, 1.2) for y in (0, 0.1)])
    covered = projection.hidden_places(places, outlines.ellipsoid(np.eye(3), np.ones(3)), eye)
    assert covered == [6, 7, 8, 9]  # beyond its middle and not beside it


def test_the_wire_passes_behind_a_ball_on_it_and_before_one_that_hangs_inside():
    hoop = dh.systems.BasketballOnHoop()
    half = float((hoop.radius + hoop.wire) * np.pi / 2)  # from the top of the wire to its inner side
    near = np.radians(-60)  # where the eye is
    q = [np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, s, near]) for s in (0.0, -1.2 * half)]
    frames = [[np.asanyarray(shape) for shape in hoop.shapes(place)] for place in q]
    wire = hoop.scenery(np.array(q))
    eye, _ = film_scene._eye(frames, [], wire)
    _, before = projection.split_scenery(wire, eye)
    outwards = 2 * hoop.wire * np.array([np.cos(near), np.sin(near), 0.0])  # to the wire's outer side
    for shapes, away, under in ((frames[0], 0.0, True), (frames[1], outwards, False)):
        place = np.asarray(shapes[1])[0] + away
        spot = int(np.argmin([np.linalg.norm(found - place) for found, _ in before]))
        assert (spot in film_scene._hidden_pieces(shapes, before, eye)) is under


def test_a_film_says_units_where_the_system_does():
    _, scene = sampled("RollingDisk")
    assert re.fullmatch(r"t = 0\.50 s    energy 16\.98\d\d J, changed by \S+", scene.captions[1])
    assert scene.labels[0].text.endswith(" m")
    _, plain = sampled("Gearbox")
    assert plain.captions[1].startswith("t = 5.00    energy ")
    assert "J" not in plain.captions[1]


def test_kinds_survive_motion_and_stay_polylines():
    ball = outlines.ellipsoid(np.eye(3), np.ones(3)) * 2.0 + np.ones(3)
    assert isinstance(ball, outlines.Surface)
    assert ball.columns == 25
    assert ball.closed
    assert isinstance(outlines.blade(0.3, 1.0, 2.0, 0.1) + 1.0, outlines.Blade)
    patch = projection.enlarge(outlines.patch(np.zeros(3), np.eye(3)[0], np.eye(3)[1]), 100.0)
    assert np.linalg.norm(np.ptp(np.asarray(patch), axis=0)) == pytest.approx(12.0)
    kept = outlines.segment((0.0, 0.0), (1.0, 0.0))
    assert projection.enlarge(kept, 100.0) is kept  # what has a size keeps it
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


# Refusals, and systems of one's own.


def test_refusals(tmp_path):
    run, _ = sampled("ChaplyginSleigh")
    with pytest.raises(ValueError, match=r"\.gif, \.html, \.mp4; 'run\.avi' ends in \.avi"):
        run.animate(tmp_path / "run.avi")
    with pytest.raises(ValueError, match="no folder"):
        run.animate(tmp_path / "nowhere" / "run.gif")
    with pytest.raises(ValueError, match="more than 0 seconds"):
        run.animate(tmp_path / "run.gif", seconds=-1.0)
    with pytest.raises(ValueError, match="25000000000 frames, more than 20000; let it last 800 seconds or less"):
        run.animate(tmp_path / "run.gif", seconds=1e9)
    with pytest.raises(ValueError, match="more than 20000"):
        run.animate(tmp_path / "run.html", seconds=np.inf)
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
    assert "t = 0.50 s" in {text.get_text().split("    ")[0] for text in figure.texts}


def test_matplotlib_is_not_loaded_before_a_film():
    code = "import sys, discrete_hamel, discrete_hamel.drawing.films.film_files; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def driven(name, **sample):
    system = getattr(dh.systems.garage, name)()
    run = dh.simulate(system, **{**system.sample(), **sample}, steps=300)
    return film_scene.scene(run, np.arange(0, 301, 30))


def test_a_vehicle_small_beside_its_path_is_drawn_again_in_a_corner():
    """Similar to itself, within a square in the picture that its path does not enter, and never where it is large."""
    scene = driven("OmniBase", h=0.06)
    left, right, bottom, top = scene.box
    for frame in (0, 10):
        pieces = scene.bodies(frame)
        corner = next(k for k, piece in enumerate(pieces) if piece.edge == closeup.RULED)
        small, large, square = pieces[:corner], pieces[corner + 1 :], pieces[corner].points
        assert len(small) == len(large)
        (a, b), (c, d) = ((np.ptp(each[0].points, axis=0), each[0].points) for each in (small, large))
        np.testing.assert_allclose(c / c[0], a / a[0], rtol=1e-9)
        assert c[0] > 2 * a[0]
        low, high = square.min(axis=0), square.max(axis=0)
        assert np.all((d >= low) & (d <= high))
        assert np.all(low >= [left, bottom])
        assert np.all(high <= [right, top])
        for trace in scene.traces:
            assert not np.any(np.all((trace.points > low) & (trace.points < high), axis=1))
    assert not any(piece.edge == closeup.RULED for piece in driven("CarWithTrailers").bodies(3))


def test_the_snake_of_the_sample_does_not_run_through_itself():
    """For ten seconds no joint bends by more than a right angle: a free one winds up, in the end."""
    system = dh.systems.garage.WheeledSnake()
    run = dh.simulate(system, **system.sample(), steps=1000)
    assert np.max(np.abs(np.diff(run.q[:, 2:], axis=1))) < np.pi / 2

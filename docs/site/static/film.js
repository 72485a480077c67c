// The films of the catalogue: numbers come from a script beside the page when a reader asks for them, so that pages open
// from a disk too. A film has runs, one for each value of a parameter, or one alone.
"use strict";
(() => {
  const waiting = new Map();

  window.showFilm = (name, data) => { for (const figure of waiting.get(name) || []) play(figure, data); waiting.delete(name); };

  function made(tag, properties) { return Object.assign(document.createElement(tag), properties); }

  function play(figure, data) {
    const still = figure.querySelector("img"), words = still.alt;
    const canvas = made("canvas", { tabIndex: 0 }), pen = canvas.getContext("2d");
    canvas.setAttribute("role", "img"); canvas.setAttribute("aria-label", words);
    const at = made("input", { type: "range", min: 0, value: 0 }); at.setAttribute("aria-label", "time");
    const button = figure.querySelector("button"), told = made("output", {});
    let film = data.runs[0], k = 0, playing = !matchMedia("(prefers-reduced-motion: reduce)").matches, last = 0;
    const row = made("div", { className: "film-controls" });
    row.append(button, at);
    if (data.parameter) {
      const { name, values } = data.parameter, of = made("input", { type: "range", min: 0, max: values.length - 1 });
      of.value = data.parameter.first || 0; film = data.runs[of.value];
      const label = made("label", {}), value = made("output", {});
      const say = () => { value.textContent = ` ${name} = ${values[of.value]}`; };
      of.oninput = () => { film = data.runs[of.value]; say(); size(); show(Math.min(k, film.frames.length - 1)); };
      say(); label.append(of, value); row.append(label);
    }
    function size() {
      canvas.width = 1400; canvas.height = Math.round(1400 * film.height / film.grid); at.max = film.frames.length - 1;
    }
    function draw(style, xy, count) {
      const [fill, edge, width] = film.styles[style], scale = canvas.width / film.grid;
      const end = count === undefined ? xy.length : 2 * count;
      pen.beginPath();
      for (let i = 0; i < end; i += 2) pen.lineTo(xy[i] * scale, xy[i + 1] * scale);
      if (fill) { pen.fillStyle = fill; pen.fill(); }
      if (edge) { pen.strokeStyle = edge; pen.lineWidth = width * canvas.width / 460; pen.stroke(); }
    }
    function show(frame) {
      k = frame;
      const scale = canvas.width / film.grid, point = canvas.width / 460;
      pen.fillStyle = "#fff"; pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.lineCap = pen.lineJoin = "round";
      for (const [style, xy] of film.behind) draw(style, xy);
      pen.fillStyle = "#6a6a6a"; pen.font = `${9 * point}px Georgia, serif`;
      for (const [x, y, text] of film.labels) {
        pen.textAlign = x < 0 ? "right" : "left";
        pen.fillText(text, x < 0 ? 0.985 * canvas.width : x * scale, (x < 0 ? canvas.height : y * scale) - 3 * point);
      }
      for (const [style, xy, until, over] of film.traces) if (!over) draw(style, xy, until[k]);
      for (const i of film.hidden[k]) draw(...film.before[i]);
      for (const [style, xy] of film.frames[k]) draw(style, xy);
      for (const [style, xy, until, over] of film.traces) if (over) draw(style, xy, until[k]);
      film.before.forEach(([style, xy], i) => { if (!film.hidden[k].includes(i)) draw(style, xy); });
      told.textContent = film.captions[k]; at.value = k;
    }
    function run(yes) { playing = yes; button.textContent = yes ? "Pause" : "Play"; }
    function tick(now) {
      if (playing && now - last > film.milliseconds) { last = now; show((k + 1) % film.frames.length); }
      requestAnimationFrame(tick);
    }
    button.onclick = () => run(!playing);
    at.oninput = () => { run(false); show(+at.value); };
    still.replaceWith(canvas); figure.querySelector("figcaption").before(row, told);
    size(); show(0); run(playing); button.focus(); requestAnimationFrame(tick);
  }

  addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll("figure.film")) {
      const name = figure.dataset.film, button = figure.querySelector("button");
      button.onclick = () => {
        button.textContent = "Loading";
        waiting.set(name, [...(waiting.get(name) || []), figure]);
        document.head.append(made("script", { src: figure.dataset.source }));
      };
    }
  });
})();

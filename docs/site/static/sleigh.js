// The sleigh's page: runs of the library for a closed set of offsets and turning rates, drawn from above.
"use strict";
addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".sleigh");
  if (!place) return;
  const canvas = place.querySelector("canvas"), pen = canvas.getContext("2d"), button = place.querySelector("button");
  const [offset, turn] = place.querySelectorAll("input"), [saysOffset, saysTurn] = place.querySelectorAll("output");
  const told = place.querySelector(".told");
  window.showSleighs = data => {
    let run, box, k = 0, playing = false, last = 0;
    offset.max = data.offsets.length - 1; turn.max = data.turns.length - 1;
    offset.value = data.offsets.length - 2; turn.value = 3;
    function choose() {
      run = data.runs[offset.value * data.turns.length + +turn.value];
      saysOffset.textContent = ` ${data.offsets[offset.value]} m`; saysTurn.textContent = ` ${data.turns[turn.value]} rad/s`;
      let left = 0, right = 0, low = 0, high = 0;
      for (let i = 0; i < run.path.length; i += 3) {
        left = Math.min(left, run.path[i]); right = Math.max(right, run.path[i]);
        low = Math.min(low, run.path[i + 1]); high = Math.max(high, run.path[i + 1]);
      }
      const margin = 700, edge = 180;  // mm beside a short path; pixels for the sleigh itself beside a long one
      const scale = Math.min(canvas.width / (right - left + 2 * margin), canvas.height / (high - low + 2 * margin),
        (canvas.width - edge) / (right - left + 1), (canvas.height - edge) / (high - low + 1));
      box = { scale, x: canvas.width / 2 - scale * (left + right) / 2, y: canvas.height / 2 + scale * (low + high) / 2 };
      k = run.path.length / 3 - 1; draw();
      const a = data.offsets[offset.value], [omega, v] = run.end;
      told.textContent = `After ${data.seconds} s it turns at ${omega} rad/s and goes at ${v} m/s. ` +
        (a === 0 ? "With its mass centre over the contact it goes round for ever. "
          : v * a > 0 ? "It ends with the mass centre in front, going straight on: the other way round is not stable. " : "It is still on its way. ") +
        `Energy is off by ${run.energy} of itself.`;
    }
    function draw() {
      const dark = getComputedStyle(document.body).color;
      pen.clearRect(0, 0, canvas.width, canvas.height); pen.lineWidth = 4; pen.strokeStyle = "#d55e00"; pen.lineJoin = "round";
      pen.beginPath();
      for (let i = 0; i <= 3 * k; i += 3) pen.lineTo(box.x + box.scale * run.path[i], box.y - box.scale * run.path[i + 1]);
      pen.stroke();
      const [x, y, angle] = run.path.slice(3 * k, 3 * k + 3), a = data.offsets[offset.value];
      pen.save(); pen.translate(box.x + box.scale * x, box.y - box.scale * y); pen.rotate(-angle / 1000); pen.fillStyle = dark; pen.strokeStyle = dark;
      const unit = Math.max(box.scale * 1000, 60);
      pen.lineWidth = 10; pen.beginPath(); pen.moveTo(-0.25 * unit, 0); pen.lineTo(0.25 * unit, 0); pen.stroke();
      pen.lineWidth = 3; pen.beginPath(); pen.moveTo(0, 0); pen.lineTo(a * unit, 0); pen.stroke();
      pen.beginPath(); pen.arc(a * unit, 0, 12, 0, 7); pen.fill(); pen.restore();
    }
    function tick(now) {
      if (playing && now - last > 50) {
        last = now; k += 1;
        if (k >= run.path.length / 3 - 1) { playing = false; button.textContent = "Play"; }
        draw();
      }
      requestAnimationFrame(tick);
    }
    button.onclick = () => { playing = !playing; if (k >= run.path.length / 3 - 1) k = 0; button.textContent = playing ? "Pause" : "Play"; };
    offset.oninput = turn.oninput = choose; choose(); requestAnimationFrame(tick);
  };
  document.head.append(Object.assign(document.createElement("script"), { src: place.dataset.source }));
});

// Primary flight display: attitude, speed, altitude or depth, vertical speed, heading and battery, as one SVG.

const SVG = "http://www.w3.org/2000/svg";

// Pixels per degree of pitch.
const PITCH_PX = 3;

// Vertical speed at the ends of its scale, m/s.
const FULL_CLIMB = 5;

const POINTS = { 0: "N", 90: "E", 180: "S", 270: "W" };

// A number as text with one decimal; a small negative number becomes 0.0.
function tenths(value) {
  const text = value.toFixed(1);
  return text === "-0.0" ? "0.0" : text;
}

export function element(parent, name, attributes = {}, text = "") {
  const one = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  one.textContent = text;
  parent.append(one);
  return one;
}

// A scale that moves past a fixed mark. `along` is "x" or "y"; `sign` is the direction of growing values.
class Tape {
  constructor(parent, { x, y, width, height, along, sign, step, scale, label }) {
    Object.assign(this, { along, sign, step, scale, label });
    const clip = `cockpit-clip-${Tape.count++}`;
    element(element(parent, "clipPath", { id: clip }), "rect", { x, y, width, height });
    element(parent, "rect", { x, y, width, height, class: "tape" });
    const group = element(parent, "g", { "clip-path": `url(#${clip})` });
    this.middle = along === "y" ? y + height / 2 : x + width / 2;
    const marks = Math.ceil((along === "y" ? height : width) / scale / step) + 2;
    this.marks = Array.from({ length: marks }, () =>
      along === "y"
        ? element(group, "text", { x: x + width / 2, class: "mark" })
        : element(group, "text", { y: y + height - 5, class: "mark" }),
    );
  }

  show(value) {
    const first = Math.round(value / this.step) - Math.floor(this.marks.length / 2);
    this.marks.forEach((mark, k) => {
      const at = (first + k) * this.step;
      const place = this.middle + this.sign * (at - value) * this.scale;
      mark.setAttribute(this.along, (place + (this.along === "y" ? 4 : 0)).toFixed(1));
      const text = this.label(at);
      if (mark.textContent !== text) mark.textContent = text;
    });
  }
}
Tape.count = 0;

export class Instruments {
  constructor(root) {
    this.svg = element(root, "svg", { id: "instruments", viewBox: "0 0 300 232", role: "img" });
    element(this.svg, "title", {}, "flight instruments");
    this.svg.style.display = "none";
  }

  build(underwater) {
    this.underwater = underwater;
    const svg = this.svg;
    svg.replaceChildren();
    svg.style.display = "";
    element(svg, "rect", { width: 300, height: 232, rx: 8, class: "panel" });
    this.buildAttitude(svg);
    const upright = { y: 30, width: 46, height: 160, along: "y" };
    this.speed = new Tape(svg, {
      ...upright, x: 6, sign: -1, step: 5, scale: 7, label: (at) => (at < 0 ? "" : String(at)),
    });
    this.altitude = new Tape(svg, {
      ...upright, x: 234, sign: underwater ? 1 : -1, step: underwater ? 1 : 5, scale: underwater ? 24 : 7, label: String,
    });
    this.heading = new Tape(svg, {
      x: 58, y: 196, width: 170, height: 20, along: "x", sign: 1, step: 10, scale: 2.6,
      label: (at) => POINTS[(at + 360) % 360] ?? String((at + 360) % 360),
    });
    element(svg, "text", { x: 29, y: 24, class: "name" }, underwater ? "WATER SPD" : "AIRSPEED");
    element(svg, "text", { x: 257, y: 24, class: "name" }, underwater ? "DEPTH" : "ALTITUDE");
    this.readings = {
      speed: this.window(6, 100, 46),
      altitude: this.window(234, 100, 46),
      heading: this.window(121, 194, 44),
    };
    this.readings.altitude.dataset.reading = underwater ? "depth" : "altitude";
    this.climb = element(svg, "path", { class: "climb" });
    element(svg, "path", { d: "M284 30V190M281 110H290", class: "line" });
    const line = (x, name, anchor) => {
      this.readings[name] = element(svg, "text", { x, y: 227, class: "value", "text-anchor": anchor });
      this.readings[name].dataset.reading = name;
    };
    line(294, "climb", "end");
    line(6, "ground_speed", "start");
    this.readings.battery = element(svg, "text", { x: 150, y: 12, class: "value", "text-anchor": "middle" });
    this.readings.battery.dataset.reading = "battery";
    for (const name of ["speed", "heading"]) this.readings[name].dataset.reading = name;
  }

  buildAttitude(svg) {
    element(element(svg, "clipPath", { id: "cockpit-attitude" }), "rect", { x: 58, y: 30, width: 170, height: 160, rx: 6 });
    const clip = element(svg, "g", { "clip-path": "url(#cockpit-attitude)" });
    this.horizon = element(clip, "g");
    element(this.horizon, "rect", { x: -200, y: -600, width: 700, height: 710, class: "sky" });
    element(this.horizon, "rect", { x: -200, y: 110, width: 700, height: 710, class: "ground" });
    element(this.horizon, "path", { d: "M-200 110H500", class: "line" });
    for (let pitch = -90; pitch <= 90; pitch += 10) {
      if (pitch === 0) continue;
      const y = 110 - PITCH_PX * pitch;
      element(this.horizon, "path", { d: `M123 ${y}H163M131 ${y + 5 * PITCH_PX}H155`, class: "line" });
      element(this.horizon, "text", { x: 117, y: y + 3, class: "mark" }, String(Math.abs(pitch)));
    }
    this.bank = element(clip, "g");
    for (const roll of [-60, -45, -30, -20, -10, 0, 10, 20, 30, 45, 60]) {
      const length = roll % 30 === 0 ? 9 : 5;
      element(this.bank, "path", { d: `M143 38v${length}`, transform: `rotate(${roll} 143 110)`, class: "line" });
    }
    element(clip, "path", { d: "M143 49l-5 9h10z", class: "symbol" });
    element(clip, "path", { d: "M100 110h28l7 7M186 110h-28l-7 7", class: "wings" });
    element(clip, "circle", { cx: 143, cy: 110, r: 2.5, class: "symbol" });
  }

  window(x, y, width) {
    element(this.svg, "rect", { x, y, width, height: 20, rx: 3, class: "window" });
    return element(this.svg, "text", { x: x + width / 2, y: y + 15, class: "reading" });
  }

  show(readings) {
    const underwater = "depth" in readings;
    if (!this.readings || underwater !== this.underwater) this.build(underwater);
    const { roll, pitch, heading, speed, climb, battery } = readings;
    const height = underwater ? readings.depth : readings.altitude;
    this.horizon.setAttribute(
      "transform",
      `rotate(${-roll} 143 110) translate(0 ${(PITCH_PX * pitch).toFixed(2)})`,
    );
    this.bank.setAttribute("transform", `rotate(${-roll} 143 110)`);
    this.speed.show(speed);
    this.altitude.show(height);
    this.heading.show(heading);
    const end = 110 - (80 * Math.max(-FULL_CLIMB, Math.min(FULL_CLIMB, climb))) / FULL_CLIMB;
    this.climb.setAttribute("d", `M284 110H292V${end.toFixed(1)}H284z`);
    this.write("speed", tenths(speed));
    this.write("altitude", tenths(height));
    this.write("heading", `${String(Math.round(heading) % 360).padStart(3, "0")}°`);
    this.write("climb", `${climb <= -0.05 ? "−" : "+"}${Math.abs(climb).toFixed(1)} m/s`);
    this.write("ground_speed", `GS ${tenths(readings.ground_speed)}`);
    this.write("battery", battery ? `${tenths(battery[0])} V   ${tenths(battery[1])} A` : "");
  }

  write(name, text) {
    const one = this.readings[name];
    if (one.textContent !== text) one.textContent = text;
  }
}

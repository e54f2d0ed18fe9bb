// The pilot's controls: keyboard, two sticks drawn for touch or mouse, or a gamepad, reported to the simulation.

import { element } from "./instruments.js";

const REPORT_MS = 40;

// Time for which a click on a switch presses its key, ms.
const CLICK_MS = 80;

// Channels of an RC frame.
const [ROLL, PITCH, THROTTLE, YAW] = [0, 1, 2, 3];

const ARROWS = { arrowleft: "left", arrowright: "right", arrowup: "up", arrowdown: "down" };

// Switches: action of the keyboard, channel, and text while low and while high.
const SWITCHES = [
  ["arm", 4, "disarmed", "ARM switch on"],
  ["override", 5, "computer flies", "sticks fly"],
  ["attitude", 6, "rates", "angles"],
];

const KEY_ROWS = [
  ["throttle up", "throttle down", "yaw left", "yaw right"],
  ["pitch forward", "pitch back", "roll left", "roll right"],
  ["arm", "override", "attitude"],
];

function html(parent, name, attributes = {}, text = "") {
  const one = document.createElement(name);
  Object.assign(one, attributes);
  one.textContent = text;
  parent.append(one);
  return one;
}

// A stick of half-size 1 that pointers move. It springs back to the centre, except a throttle.
class Stick {
  constructor(parent, name, holds) {
    this.holds = holds;
    this.x = this.y = 0;
    this.svg = element(parent, "svg", { class: "stick", viewBox: "-1.25 -1.25 2.5 2.5", "aria-label": name });
    element(this.svg, "rect", { x: -1.2, y: -1.2, width: 2.4, height: 2.4, rx: 0.2, "stroke-width": 0.04 });
    element(this.svg, "path", { d: "M-1 0H1M0 -1V1", "stroke-width": 0.03 });
    this.knob = element(this.svg, "circle", { r: 0.2 });
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.move(event);
    });
    this.svg.addEventListener("pointermove", (event) => event.buttons && this.move(event));
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => this.release());
  }

  move(event) {
    const box = this.svg.getBoundingClientRect();
    const along = (at, from, size) => Math.max(-1, Math.min(1, ((at - from) / size - 0.5) * 2.5));
    this.x = along(event.clientX, box.left, box.width);
    this.y = along(event.clientY, box.top, box.height);
  }

  release() {
    this.x = 0;
    if (!this.holds) this.y = 0;
  }

  show(x, y) {
    this.knob.setAttribute("cx", x);
    this.knob.setAttribute("cy", y);
  }
}

export class Pilot {
  constructor(root, send) {
    this.send = send;
    this.held = new Set();
    this.clicked = new Set();
    this.seat = "closed";
    this.obstacle = "";
    this.panel = html(root, "div", { id: "pilot", hidden: true });
    this.build();
    // Captured at the window: the scene's camera also moves by letters and arrows.
    window.addEventListener("keydown", (event) => this.onKey(event, true), true);
    window.addEventListener("keyup", (event) => this.onKey(event, false), true);
    window.addEventListener("blur", () => this.held.clear());
    for (const change of ["gamepadconnected", "gamepaddisconnected"]) {
      window.addEventListener(change, () => this.listDevices());
    }
    setInterval(() => this.report(), REPORT_MS);
  }

  build() {
    const start = html(this.panel, "div", { className: "row" });
    this.take = html(start, "button", { className: "main", title: "fly by hand, in real time" }, "Fly by hand");
    this.leave = html(start, "button", { title: "stop flying by hand; land and disarm first" }, "Leave controls");
    this.device = html(start, "select", { title: "device" });
    this.device.setAttribute("aria-label", "Device");
    this.note = html(this.panel, "div", { className: "note", hidden: true });
    this.flying = html(this.panel, "div", { hidden: true });
    const sticks = html(this.flying, "div", { className: "row" });
    this.left = new Stick(sticks, "throttle and yaw", true);
    this.right = new Stick(sticks, "pitch and roll", false);
    const row = html(this.flying, "div", { className: "row" });
    this.switches = SWITCHES.map(([action, channel, low, high]) => {
      const button = html(row, "button", {}, low);
      button.addEventListener("click", () => this.click(action));
      return { button, channel, low, high };
    });
    this.keys = html(this.flying, "div", { className: "keys" });
    this.take.addEventListener("click", () => this.send({ take: this.deviceName() }));
    this.leave.addEventListener("click", () => this.send({ leave: true }));
    this.device.addEventListener("change", () => {
      this.device.blur();
      this.showKeys();
      if (this.seat !== "mine") return;
      this.begin();
      this.send({ take: this.deviceName() });
    });
  }

  setUp(setup) {
    this.setup = setup;
    this.panel.hidden = !setup.can_fly;
    this.listDevices();
  }

  // Each option's value: kind and name of the layout, or index of the gamepad.
  listDevices() {
    if (!this.setup) return;
    const layouts = Object.keys(this.setup.layouts).sort((one, other) => (one === "wasd" ? -1 : other === "wasd" ? 1 : 0));
    const options = layouts.map((name) => [`keys ${name}`, `keyboard (${name})`]);
    options.push(["sticks", "sticks on the page"]);
    for (const pad of this.gamepads()) options.push([`gamepad ${pad.index}`, `gamepad: ${pad.id}`]);
    const coarse = window.matchMedia("(pointer: coarse)").matches && !window.matchMedia("(any-pointer: fine)").matches;
    const chosen = this.device.value || (coarse ? "sticks" : options[0][0]);
    this.device.replaceChildren();
    for (const [value, text] of options) html(this.device, "option", { value }, text);
    this.device.value = options.some(([value]) => value === chosen) ? chosen : options[0][0];
    this.showKeys();
  }

  gamepads() {
    return [...navigator.getGamepads()].filter((pad) => pad && pad.connected);
  }

  gamepad() {
    const index = Number(this.device.value.split(" ")[1]);
    return this.gamepads().find((pad) => pad.index === index);
  }

  deviceName() {
    const [kind] = this.device.value.split(" ");
    if (kind === "keys") return this.setup.keyboard;
    const pad = kind === "gamepad" && this.gamepad();
    if (pad) return ((pad.mapping === "standard" ? this.setup.standard_gamepad : "") + pad.id).slice(0, 200);
    return this.setup.sticks;
  }

  layout() {
    const [kind, name] = this.device.value.split(" ");
    return kind === "keys" ? this.setup.layouts[name] : null;
  }

  showKeys() {
    const layout = this.layout();
    this.keys.replaceChildren();
    for (const actions of layout ? KEY_ROWS : []) {
      const row = html(this.keys, "div");
      for (const action of actions) {
        const entry = html(row, "span");
        html(entry, "kbd", {}, Object.keys(layout).find((key) => layout[key] === action));
        entry.append(` ${action}`);
      }
    }
  }

  showSeat(seat) {
    const begins = seat === "mine" && this.seat !== "mine";
    const lost = seat === "closed" && this.seat === "mine";
    this.seat = seat;
    this.flying.hidden = seat !== "mine";
    this.panel.classList.toggle("flying", seat === "mine");
    this.leave.hidden = seat !== "mine";
    this.take.hidden = seat === "mine";
    this.showTake();
    if (begins) this.begin();
    this.showNote(lost ? "RC signal lost: the page was hidden or disconnected. Press Fly by hand to take the controls again." : begins ? "" : null);
  }

  begin() {
    this.held.clear();
    this.right.release();
    this.left.x = 0;
    // The throttle of a vehicle in flight starts at half.
    this.left.y = this.armed ? 0 : 1;
    // Keys must not move the field that had the focus.
    document.activeElement?.blur();
  }

  // Why no pilot can take the controls at present; empty: a pilot can.
  showObstacle(why) {
    this.obstacle = why;
    this.showTake();
  }

  showTake() {
    const why = { taken: "another browser flies the vehicle", closed: "no connection" }[this.seat] ?? this.obstacle;
    this.take.disabled = Boolean(why);
    this.take.title = why || "fly by hand, in real time";
  }

  showRefusal(reason) {
    this.showNote(reason);
  }

  showNote(text) {
    if (text === null) return;
    this.note.hidden = !text;
    this.note.textContent = text;
  }

  showFrame(frame) {
    if (!frame) return;
    const at = (channel) => Math.max(-1, Math.min(1, (frame[channel] - 1500) / 500));
    this.armed = frame[SWITCHES[0][1]] > 1500;
    this.panel.dataset.armed = this.armed;
    if (this.seat !== "mine") return;
    this.left.show(at(YAW), -at(THROTTLE));
    this.right.show(at(ROLL), at(PITCH));
    for (const { button, channel, low, high } of this.switches) {
      const on = frame[channel] > 1500;
      button.textContent = on ? high : low;
      button.setAttribute("aria-pressed", on);
    }
  }

  click(action) {
    this.clicked.add(action);
    this.report();
    setTimeout(() => {
      this.clicked.delete(action);
      this.report();
    }, CLICK_MS);
  }

  onKey(event, down) {
    const layout = this.seat === "mine" && this.layout();
    if (!layout || event.ctrlKey || event.metaKey || event.altKey) return;
    if (["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) return;
    const key = event.key.toLowerCase();
    const action = layout[ARROWS[key] ?? key];
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.repeat) return;
    if (down) this.held.add(action);
    else this.held.delete(action);
    // While the page draws, keys wait: their own times tell how long each was held.
    this.report(event.timeStamp);
  }

  report(at = performance.now()) {
    if (this.seat !== "mine") return;
    const [kind] = this.device.value.split(" ");
    const pressed = SWITCHES.map(([action]) => this.clicked.has(action));
    if (kind === "keys") {
      this.send({ held: [...new Set([...this.held, ...this.clicked])], at: at / 1000 });
    } else if (kind === "sticks") {
      const { left, right } = this;
      this.send({ axes: [right.x, right.y, -left.y, left.x], buttons: pressed });
    } else {
      const pad = this.gamepad();
      // Without axes and buttons, the gamepad counts as unplugged.
      this.send({ axes: pad ? [...pad.axes] : [], buttons: pad ? pad.buttons.map((one) => one.pressed) : [] });
    }
  }
}

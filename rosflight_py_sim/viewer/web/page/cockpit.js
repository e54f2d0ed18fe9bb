// The cockpit of the page: instruments, and the controls of a pilot, over one WebSocket; and the vehicles' names.

import { Instruments } from "./instruments.js";
import { Names } from "./names.js";
import { Pilot } from "./pilot.js";

const RETRY_MS = 1000;

class Cockpit {
  constructor() {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = "/cockpit/cockpit.css";
    document.head.append(style);
    this.root = document.createElement("div");
    this.root.id = "cockpit";
    document.body.append(this.root);
    this.names = new Names();
    this.instruments = new Instruments(this.root);
    this.pilot = new Pilot(this.root, (message) => this.send(message));
    // A hidden page gets no keys and hardly any time: its pilot has lost the controls.
    document.addEventListener("visibilitychange", () => (document.hidden ? this.close() : this.open()));
    window.addEventListener("pagehide", () => this.close());
    if (!document.hidden) this.open();
  }

  open() {
    if (this.socket) return;
    const socket = new WebSocket(`ws://${location.host}/cockpit`);
    this.socket = socket;
    socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.close();
      if (!document.hidden) setTimeout(() => this.open(), RETRY_MS);
    };
  }

  close() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.pilot.showSeat("closed");
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  receive(message) {
    if (message.readings) {
      this.names.follow();
      this.instruments.show(message.readings);
      this.pilot.showFrame(message.readings.rc);
    } else if (message.setup) {
      this.pilot.setUp(message.setup);
    } else if (message.seat) {
      this.pilot.showSeat(message.seat);
    } else if ("obstacle" in message) {
      this.pilot.showObstacle(message.obstacle);
    } else if (message.refused) {
      this.pilot.showRefusal(message.refused);
    }
  }
}

new Cockpit();

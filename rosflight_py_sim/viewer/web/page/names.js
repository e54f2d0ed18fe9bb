// Names of several vehicles, as elements over the scene: text in the scene would be as coarse as the scene.

// Beginning of the nodes above the vehicles, before the names (`scene.py`).
const NODES = "/map/names/";

export class Names {
  constructor() {
    this.root = document.createElement("div");
    this.root.id = "names";
    this.shown = new Map();
  }

  // Place the names whenever viser has drawn its scene.
  follow() {
    const viewer = window.__viserMutable;
    if (!viewer?.scene || viewer.scene === this.scene) return;
    this.scene = viewer.scene;
    this.scene.onAfterRender = (renderer, _, camera) => {
      if (camera === viewer.camera) this.place(viewer.nodeRefFromName, camera, renderer.domElement.parentElement);
    };
  }

  place(nodes, camera, canvas) {
    if (this.root.parentElement !== canvas) canvas.append(this.root);
    const names = Object.keys(nodes).filter((node) => node.startsWith(NODES) && nodes[node]);
    for (const [node, name] of this.shown) {
      if (names.includes(node)) continue;
      name.remove();
      this.shown.delete(node);
    }
    for (const node of names) {
      const name = this.shown.get(node) ?? this.add(node);
      const [x, y, isAhead] = projected(nodes[node].matrixWorld.elements.slice(12), camera);
      name.hidden = !isAhead;
      name.style.left = `${50 + 50 * x}%`;
      name.style.top = `${50 - 50 * y}%`;
    }
  }

  add(node) {
    const name = document.createElement("span");
    name.textContent = decodeURIComponent(node.slice(NODES.length));
    this.root.append(name);
    this.shown.set(node, name);
    return name;
  }
}

// Place of a point (x, y, z, 1) in the picture, -1 to 1 to the right and up, and whether it is in front of the camera.
function projected(point, camera) {
  const [x, y, , w] = times(camera.projectionMatrix.elements, times(camera.matrixWorldInverse.elements, point));
  return [x / w, y / w, w > 0];
}

function times(matrix, vector) {
  return [0, 1, 2, 3].map((row) => vector.reduce((sum, value, k) => sum + matrix[4 * k + row] * value, 0));
}

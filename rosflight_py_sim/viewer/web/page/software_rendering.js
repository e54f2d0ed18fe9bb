// Runs before viser's program. Where the browser renders on the CPU, the scene is drawn with fewer pixels, and their
// number follows the measured frame rate, so that 30 frames a second stay possible. An address with viser's setting
// `fixedDpr`, the number of pixels drawn per pixel of the page in each direction, is obeyed instead. viser's warning about
// such a browser, which would cover much of a small scene, is closed once there was time to read it.

(() => {
  const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

  // Number of pixels drawn at first for a whole page, of which the scene takes up about three quarters.
  const PIXELS = 200e3;

  // Pixels drawn per pixel of the page, and the factors by which they change below and above these frame rates.
  const [LEAST, MOST] = [0.3, 1];
  const [SLOW, FEWER] = [30, 0.87];
  const [FAST, MORE] = [50, 1.15];

  // Time of drawing after which the number may change, and longest interval between two frames of a moving scene: a
  // scene at rest is drawn once a second.
  const [SPAN_MS, REST_MS] = [2000, 500];

  const SETTING = "fixedDpr";

  const WARNING = "#webgl-software-rendering button";
  const READING_MS = 10000;

  function renderer() {
    const context = document.createElement("canvas").getContext("webgl2");
    if (!context) return "";
    const names = context.getExtension("WEBGL_debug_renderer_info");
    const name = context.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : context.RENDERER);
    context.getExtension("WEBGL_lose_context")?.loseContext();
    return name;
  }

  function setAddress(change) {
    const address = new URL(location.href);
    change(address.searchParams);
    history.replaceState(null, "", address);
  }

  function whenSceneExists(action) {
    const wait = setInterval(() => {
      if (!window.__viserTestpoints) return;
      clearInterval(wait);
      action();
    }, 200);
  }

  if (!SOFTWARE.test(renderer())) return;
  whenSceneExists(() => setTimeout(() => document.querySelector(WARNING)?.click(), READING_MS));
  if (new URL(location.href).searchParams.has(SETTING)) return;
  const bounded = (ratio) => Math.max(LEAST, Math.min(MOST, ratio)).toFixed(2);
  setAddress((settings) => settings.set(SETTING, bounded(Math.sqrt(PIXELS / (innerWidth * innerHeight)))));

  let [last, drawn, frames] = [0, 0, 0];

  function note(now) {
    const interval = now - last;
    last = now;
    if (interval <= 0 || interval > REST_MS) return;
    drawn += interval;
    frames += 1;
    if (drawn < SPAN_MS) return;
    const rate = (1000 * frames) / drawn;
    drawn = frames = 0;
    const settings = window.__viserTestpoints?.devSettings;
    if (!settings) return;
    const factor = rate < SLOW ? FEWER : rate > FAST ? MORE : 1;
    settings.set({ [SETTING]: Number(bounded(settings.get()[SETTING] * factor)) });
  }

  const draw = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) =>
    draw((now) => {
      note(now);
      callback(now);
    });

  // By then viser has read the setting; a reload must measure again.
  whenSceneExists(() => setAddress((settings) => settings.delete(SETTING)));
})();

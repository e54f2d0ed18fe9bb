// Runs before viser's program. Where the browser renders on the CPU, the scene is drawn with fewer pixels, so that 30
// frames a second stay possible on two cores. The address shows the number of pixels drawn per pixel of the page, as
// viser's setting `fixedDpr`; an address that already has this setting is left as it is.

(() => {
  const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

  // Number of pixels drawn for a whole page, of which the scene takes up about three quarters.
  const PIXELS = 200e3;

  function renderer() {
    const context = document.createElement("canvas").getContext("webgl2");
    if (!context) return "";
    const names = context.getExtension("WEBGL_debug_renderer_info");
    const name = context.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : context.RENDERER);
    context.getExtension("WEBGL_lose_context")?.loseContext();
    return name;
  }

  const address = new URL(location.href);
  if (!address.searchParams.has("fixedDpr") && SOFTWARE.test(renderer())) {
    const ratio = Math.min(1, Math.sqrt(PIXELS / (innerWidth * innerHeight)));
    address.searchParams.set("fixedDpr", ratio.toFixed(2));
    history.replaceState(null, "", address);
  }
})();

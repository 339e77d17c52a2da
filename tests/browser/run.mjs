// Compares the client of a page with a native client: both watch the match of `examples/arena_web`, and must
// have the same values at equal ticks. Then a page plays by keys. Prints one line of JSON; the exit code is 1
// if something is wrong, and 2 if the test could not run.
//
//   npm install --prefix tests/browser
//   node tests/browser/run.mjs PROGRAM [--seconds N] [--pictures FOLDER]
//
// PROGRAM is the program of `examples/arena_web`. The browser is `chromium`, or what the variable CHROMIUM
// names.
import { parseArgs } from "node:util";
import { compare, open, startMatch, watch } from "./arena.mjs";
import { picture, run, sizes } from "./browser.mjs";

const MOST_WASM_BYTES = 320_000; // as brotli; 300,000 are the aim
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "10" }, pictures: { type: "string" } },
});
const [program] = positionals;
const seconds = Number(options.seconds);

/** Plays by keys. Returns how far the player ran, and whether a shot of it was seen. */
async function play(page) {
  const me = () => page.evaluate(() => {
    const state = JSON.parse(window.arena_state());
    const shots = Object.values(state.shots).filter((shot) => shot.shooter === state.me).length;
    return { ...state.players[state.me], shots };
  });
  let [run, shots] = [0, 0];
  let last = await me();
  // Toward the middle first, because the player may stand at an edge; for long enough that a break passes.
  await page.keyboard.down(last.position[0] > 0 ? "ArrowLeft" : "KeyD");
  await page.keyboard.down("Space");
  for (let turn = 0; turn < 60 && (run < 3 || shots === 0); turn++) {
    await page.waitForTimeout(100);
    const now = await me();
    const step = Math.abs(now.position[0] - last.position[0]);
    run += step < 2 ? step : 0; // A player that appears again elsewhere did not run there.
    shots += now.shots;
    last = now;
  }
  return { run, shots };
}

async function test(browser) {
  const errors = [];
  const { url, server } = await startMatch(program, ["--port", "0", "--ticks", "7200"]);
  const page = await open(browser, `${url}?watch`, 1280, errors);
  const compared = compare(await watch(page, program, server, seconds));
  const differing = compared.filter(({ paths }) => paths.length > 0);
  const stats = JSON.parse(await page.evaluate(() => window.arena_stats()));
  await picture(page, options.pictures, "watch-1280");
  const player = await open(browser, `${url}?play`, 390, errors);
  await picture(player, options.pictures, "play-390");
  const played = await play(player);
  await picture(player, options.pictures, "play-390-later");
  const size = await sizes(`${url}arena_page_bg.wasm`);
  const ok = compared.length >= seconds * 20 && differing.length === 0 && stats.differed === 0 && stats.agreed > 0
    && played.run >= 3 && played.shots > 0 && size.wasm_brotli_bytes <= MOST_WASM_BYTES && errors.length === 0;
  return { ok, ticks_compared: compared.length, ticks_differing: differing.length, first_difference: differing[0]?.paths[0],
           ...stats, metres_run: played.run, shots_seen: played.shots, ...size, errors };
}

await run(test);

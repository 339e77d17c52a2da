// Plays the game with Bevy in two pages: one player walks by keys, the other is a bot. When the world has
// stopped changing, the page must have what the server has. Prints one line of JSON; the exit code is 1 if
// something is wrong, and 2 if the test could not run.
//
//   npm install --prefix tests/browser
//   node tests/browser/bevy.mjs PROGRAM [--pictures FOLDER]
//
// PROGRAM is the program of `examples/arena_web`, built with the feature `bevy`. The browser is `chromium`,
// or what the variable CHROMIUM names.
import { isDeepStrictEqual, parseArgs } from "node:util";
import { next, open as openPage, picture, run, sizes, startServer } from "./browser.mjs";

const METRES_SEEN = 30; // With a radius of 40 metres and its cells, everything nearer than this is in sight.
const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { pictures: { type: "string" } } });
const [program] = positionals;

const snapshot = async (page) => JSON.parse(await page.evaluate(() => window.client.snapshot()));

/** Opens a page, and waits until it has its player. */
function open(browser, url, width, errors) {
  return openPage(browser, url, width, errors, () => window.client && JSON.parse(window.client.snapshot()).own);
}

/** Walks for some frames without a pause, so that nothing arrives: how far does the prediction move the player? */
function predict() {
  const at = () => {
    const { own, players } = JSON.parse(window.client.snapshot());
    return players[own].position[0];
  };
  const start = at();
  window.client.walk(start < 30 ? 1 : -1, 0);
  const end = performance.now() + 800;
  while (performance.now() < end && Math.abs(at() - start) < 0.3) window.client.frame();
  window.client.walk(0, 0);
  return Math.abs(at() - start);
}

/** Returns the players, and the coins that this player sees. */
function seen({ players, coins }, [x, y]) {
  return { players, coins: coins.filter((coin) => Math.hypot(coin[0] - x, coin[1] - y) < METRES_SEEN) };
}

/** Waits until the server's world has stopped changing, and returns whether the page has the same. */
async function agrees(page, lines) {
  let last = await next(lines);
  for (let turn = 0; turn < 20; turn++) {
    const state = await next(lines);
    if (isDeepStrictEqual(state, last)) {
      const { own, ...view } = await snapshot(page);
      const at = state.players[own].position;
      const [expected, found] = [seen(state, at), seen(view, at)];
      const same = isDeepStrictEqual(found, expected);
      if (!same) console.error(`${JSON.stringify(found)} in the page, ${JSON.stringify(expected)} on the server`);
      return { same, players: Object.keys(found.players).length, coins: found.coins.length };
    }
    last = state;
  }
  throw new Error("the world does not stop changing");
}

async function test(browser) {
  const errors = [];
  const { url, lines } = await startServer(program, ["bevy", "--json", "--port", "0", "--empty"]);
  const page = await open(browser, `${url}?play`, 720, errors);
  await page.waitForTimeout(2_000); // Until the clock of the client is right.
  const predicted = await page.evaluate(predict);
  await page.click("#hat");
  const bot = await open(browser, url, 390, errors);
  const before = await snapshot(page);
  await page.bringToFront();
  await page.keyboard.down("KeyS");
  const walked = async () => (await snapshot(page)).players[before.own].position[1] - before.players[before.own].position[1];
  for (let turn = 0; turn < 100 && (await walked()) < 5; turn++) await page.waitForTimeout(100);
  await page.keyboard.up("KeyS");
  await page.waitForFunction(() => document.querySelector("#chat li"), null, { timeout: 10_000 });
  const chat = await page.textContent("#chat li");
  await picture(page, options.pictures, "bevy-play-720");
  await picture(bot, options.pictures, "bevy-bot-390");
  await bot.close();
  const outcome = await agrees(page, lines);
  const metres_walked = await walked();
  const rollbacks = await page.evaluate(() => window.client.rollbacks());
  const ok = outcome.same && outcome.players === 2 && outcome.coins > 0 && predicted >= 0.3 && metres_walked >= 5 && chat === "hello"
    && errors.length === 0;
  const size = await sizes(`${url}bevy_page_bg.wasm`);
  return { ok, ...outcome, metres_predicted: predicted, metres_walked, chat, rollbacks, ...size, errors };
}

await run(test);

// Pages that cannot connect. Each must say what to do within five seconds, and must not hang.
import { createServer } from "node:http";
import { once } from "node:events";
import { startMatch } from "./arena.mjs";
import { makeCertificate } from "./certificates.mjs";
import { openProxy } from "./proxy.mjs";

const LONGEST_MS = 5_000;
const MATCH = ["--port", "0", "--ticks", "7200"];

/** Returns the cases. */
export function badPages(program) {
  /** Checks a page of a match of its own, whose certificate is valid between these times. */
  const withCertificate = (times, check) => async (browser) => {
    const { certificate, key } = makeCertificate(times);
    const { url, child } = await startMatch(program, [...MATCH, "--certificate", certificate, "--key", key]);
    const outcome = await check(browser, url);
    child.kill();
    return outcome;
  };
  return {
    good_certificate: withCertificate({ from_days: -1, until_days: 12 }, accepts),
    other_origin: async (browser, match) => says(browser, await copyOf(match.url), /origin/),
    wrong_hash: async (browser, match) => {
      const hash = [...match.server.hash].map((digit) => (digit === "0" ? "1" : "0")).join("");
      return says(browser, match.url, /one of the pinned hashes/, (page) => reroute(page, { ...match.server, hash }));
    },
    expired: withCertificate({ from_days: -10, until_days: -1 }, (browser, url) => says(browser, url, /valid now/)),
    too_long: withCertificate({ from_days: -1, until_days: 30 }, (browser, url) => says(browser, url, /at most 14 days/)),
    no_web_transport: (browser, match) => says(browser, match.url, /use Chrome/, (page) => page.addInitScript(() => delete globalThis.WebTransport)),
    udp_blocked: async (browser, match) => {
      const { address } = await openProxy(match.server.address, { loss: 1 });
      return says(browser, match.url, /UDP/, (page) => reroute(page, { ...match.server, address }));
    },
    no_server: (browser, match) => says(browser, match.url, /accepts browsers and is not full/, (page) => reroute(page, { ...match.server, address: "127.0.0.1:40009" })),
    plain_http: (browser, match) => says(browser, match.url.replace("localhost", "plain.test"), /over https/),
  };
}

function reroute(page, server) {
  return page.route("**/server.json", (route) => route.fulfill({ json: server }));
}

/** Checks that a page says what to do in time, and still answers. The time is since the page was loaded. */
async function says(browser, url, what, prepare = async () => {}) {
  const page = await browser.newPage();
  await prepare(page);
  await page.goto(`${url}?watch`);
  const loaded_at = Date.now();
  const shows = (source) => new RegExp(source).test(document.querySelector("#message").textContent);
  const found = await page.waitForFunction(shows, what.source, { timeout: 20_000, polling: 20 }).catch(() => null);
  const message_ms = Date.now() - loaded_at;
  const asked_at = Date.now();
  const message = await page.textContent("#message");
  const answer_ms = Date.now() - asked_at;
  return { ok: found !== null && message_ms <= LONGEST_MS && answer_ms < 1000, message_ms, answer_ms, message };
}

/** Checks that a page connects. */
async function accepts(browser, url) {
  const page = await browser.newPage();
  await page.goto(`${url}?watch`);
  const connected = () => window.arena_stats && JSON.parse(window.arena_stats()).connected;
  const found = await page.waitForFunction(connected, null, { timeout: 20_000 }).catch(() => null);
  return { ok: found !== null, message: await page.textContent("#message") };
}

/** Serves the same page at another port. */
async function copyOf(url) {
  const server = createServer(async (request, response) => {
    const original = await fetch(new URL(request.url, url));
    response.writeHead(original.status, { "content-type": original.headers.get("content-type") });
    response.end(Buffer.from(await original.arrayBuffer()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://localhost:${server.address().port}/`;
}

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
  const plainly = () => startMatch(program, MATCH);
  const withCertificate = (times) => {
    const { certificate, key } = makeCertificate(times);
    return startMatch(program, [...MATCH, "--certificate", certificate, "--key", key]);
  };
  return {
    good_certificate: async (browser) => {
      const match = await withCertificate({ from_days: -1, until_days: 12 });
      return accepts(browser, match.url);
    },
    other_origin: async (browser) => {
      const match = await plainly();
      return says(browser, await copyOf(match.url), /origin/);
    },
    wrong_hash: async (browser) => {
      const match = await plainly();
      const hash = [...match.server.hash].map((digit) => (digit === "0" ? "1" : "0")).join("");
      return says(browser, match.url, /one of the pinned hashes/, (page) => reroute(page, { ...match.server, hash }));
    },
    expired: async (browser) => {
      const match = await withCertificate({ from_days: -10, until_days: -1 });
      return says(browser, match.url, /valid now/);
    },
    too_long: async (browser) => {
      const match = await withCertificate({ from_days: -1, until_days: 30 });
      return says(browser, match.url, /at most 14 days/);
    },
    no_web_transport: async (browser) => {
      const match = await plainly();
      return says(browser, match.url, /use Chrome/, (page) => page.addInitScript(() => delete globalThis.WebTransport));
    },
    udp_blocked: async (browser) => {
      const match = await plainly();
      const { address } = await openProxy(match.server.address, { loss: 1 });
      return says(browser, match.url, /UDP/, (page) => reroute(page, { ...match.server, address }));
    },
    no_server: async (browser) => {
      const match = await plainly();
      return says(browser, match.url, /server runs/, (page) => reroute(page, { ...match.server, address: "127.0.0.1:9" }));
    },
    plain_http: async (browser) => {
      const match = await plainly();
      return says(browser, match.url.replace("localhost", "plain.test"), /over https/);
    },
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

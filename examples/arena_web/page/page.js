// Runs the client of the arena in this page, and shows what it has.
//
// `draw.js` draws. For tests, `arena_state()` returns all replicated values with their tick, and
// `arena_stats()` what the client knows about its connection, both as JSON.
import init, { ArenaClient } from "./arena_page.js";
import { draw } from "./draw.js";

const byId = (id) => document.getElementById(id);
const plays = location.search === "?play";
byId(plays ? "play" : "watch").setAttribute("aria-current", "page");

function say(text, isQuiet = false) {
  byId("message").textContent = text;
  byId("message").classList.toggle("is-quiet", isQuiet);
}

try {
  const { memory } = await init({ module_or_path: "arena_page_bg.wasm" });
  const response = await fetch("server.json");
  if (!response.ok) throw new Error(`server.json: ${response.status}`);
  run(await response.json(), memory);
} catch (error) {
  say(`The page cannot start: ${error.message}`);
}

function run({ address, hash }, memory) {
  const client = new ArenaClient(address, hash, crypto.getRandomValues(new Uint8Array(16)), plays);
  let receivingMs = 0;
  let ended = "";
  let isRunning = true;
  let state = JSON.parse(client.snapshot());
  const stats = () => {
    const known = JSON.parse(client.stats());
    const mean = known.packets > 0 ? (receivingMs * 1000) / known.packets : 0;
    return { ...known, microseconds_per_packet: mean, memory_bytes: memory.buffer.byteLength };
  };
  window.arena_state = () => client.snapshot();
  window.arena_stats = () => JSON.stringify(stats());

  const step = () => {
    const now = performance.now();
    client.receive(now);
    receivingMs += performance.now() - now;
    client.tick(now);
    ended = client.ended() ?? ended;
  };
  // The interval goes on while the page is hidden, though more slowly.
  const timer = setInterval(() => {
    try {
      step();
    } catch (error) {
      clearInterval(timer);
      isRunning = false;
      say(`The client has failed: ${error.message}`);
    }
  }, 8);
  const show = () => {
    if (!isRunning) return;
    state = JSON.parse(client.snapshot());
    draw(byId("canvas"), state);
    showScore(state);
    requestAnimationFrame(show);
  };
  show();

  let last = stats();
  setInterval(() => {
    if (!isRunning) return;
    const known = stats();
    showStats(known, known.bytes - last.bytes, state.tick);
    last = known;
  }, 1000);
  setInterval(() => {
    if (!isRunning) return;
    const { connected, over } = stats();
    if (connected) ended = "";
    if (connected) say("");
    else if (over) say(`The session is over: ${ended || "the server has ended it"}`);
    else say(ended ? `Not connected, trying again: ${ended}` : "Connecting …", !ended);
  }, 200);
  listen((keys) => isRunning && client.press(keys.left, keys.right, keys.up, keys.down, keys.fire), () => state);
  addEventListener("pagehide", () => {
    if (!isRunning) return;
    client.leave();
    step();
  });
}

function showScore({ matches, teams }) {
  const [match] = Object.values(matches);
  const [one, other] = Object.values(teams);
  if (!match || !other) return;
  byId("one").textContent = one.name;
  byId("points").textContent = `${one.score} : ${other.score}`;
  byId("other").textContent = other.name;
  const [phase, of] = match.phase;
  const winner = phase === "Over" && (teams[of] ? `${teams[of].name} win` : "nobody wins");
  const text = { Waiting: "waiting", Playing: `round ${of}`, Break: `break after round ${of}`, Over: winner }[phase];
  const seconds = String(match.seconds_left % 60).padStart(2, "0");
  byId("phase").textContent = `${text}, ${Math.floor(match.seconds_left / 60)}:${seconds} left`;
}

function showStats({ round_trip_ms, packets_lost, agreed, differed }, bytes, tick) {
  byId("trip").textContent = round_trip_ms < 0 ? "–" : `${round_trip_ms} ms`;
  byId("rate").textContent = `${(bytes / 1000).toFixed(1)} kB/s`;
  byId("lost").textContent = packets_lost;
  byId("tick").textContent = tick ?? "–";
  const compared = agreed + differed;
  byId("agreed").textContent = compared ? `${((100 * agreed) / compared).toFixed(1)} %` : "–";
}

// Tells which keys are down, or what a finger on the field asks for.
function listen(press, state) {
  const names = {
    ArrowLeft: "left", KeyA: "left", ArrowRight: "right", KeyD: "right",
    ArrowUp: "up", KeyW: "up", ArrowDown: "down", KeyS: "down", Space: "fire",
  };
  let keys = {};
  const set = (next) => press((keys = next));
  for (const [type, isDown] of [["keydown", true], ["keyup", false]]) {
    addEventListener(type, (event) => {
      const name = names[event.code];
      if (!name || !plays || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      set({ ...keys, [name]: isDown });
    });
  }
  addEventListener("blur", () => set({}));
  const canvas = byId("canvas");
  const point = (event) => {
    const me = state().players[state().me];
    if (!plays || !me || event.buttons === 0) return;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const x = ((event.clientX - left) / width - 0.5) * 52 - me.position[0];
    const y = (0.5 - (event.clientY - top) / height) * 52 - me.position[1];
    set({ left: x < -1, right: x > 1, up: y > 1, down: y < -1, fire: true });
  };
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointermove", point);
  for (const type of ["pointerup", "pointercancel"]) canvas.addEventListener(type, () => set({}));
}

// Draws the state of a client on a canvas.
const EDGE = 26; // The arena reaches to 25 metres in each direction.
const TEAMS = ["#1668b0", "#c2571a"];
const PICKUPS = { Health: ["+", "#2f8f4e"], Ammo: ["A", "#7a6a2c"], Loot: ["$", "#7a6a2c"], Launcher: ["L", "#9b2d5e"],
                  Haste: ["H", "#6a4bb0"], Scanner: ["S", "#6a4bb0"], Cloak: ["C", "#6a4bb0"] };

export function draw(canvas, state) {
  const side = Math.round(canvas.clientWidth * devicePixelRatio);
  if (canvas.width !== side) canvas.width = canvas.height = side;
  const style = getComputedStyle(canvas);
  const scene = {
    context: canvas.getContext("2d"),
    metre: side / (2 * EDGE),
    ink: style.color,
    faint: style.borderTopColor,
    at: ([x, y]) => [((x + EDGE) / (2 * EDGE)) * side, ((EDGE - y) / (2 * EDGE)) * side],
    // Letters stay readable on a narrow screen.
    letter: Math.max(side / 52, 11 * devicePixelRatio),
    colour: (team) => TEAMS[Object.keys(state.teams).indexOf(team)] ?? "#888",
  };
  scene.context.clearRect(0, 0, side, side);
  scene.context.textAlign = "center";
  scene.context.textBaseline = "middle";
  drawGrid(scene);
  for (const pickup of Object.values(state.pickups)) drawPickup(scene, pickup);
  for (const turret of Object.values(state.turrets)) drawTurret(scene, turret, state.players);
  for (const player of Object.values(state.players)) drawBeam(scene, player, state.players);
  for (const [id, player] of Object.entries(state.players)) drawPlayer(scene, player, id === state.me);
  for (const shot of Object.values(state.shots)) drawShot(scene, shot, state.tick);
}

function drawGrid({ context, at, faint }) {
  context.strokeStyle = faint;
  context.lineWidth = 1;
  context.beginPath();
  for (let place = -25; place <= 25; place += 5) {
    context.moveTo(...at([place, -25]));
    context.lineTo(...at([place, 25]));
    context.moveTo(...at([-25, place]));
    context.lineTo(...at([25, place]));
  }
  context.stroke();
}

function drawPickup({ context, at, letter }, { kind: [kind, what], position }) {
  const [sign, colour] = PICKUPS[kind === "Perk" ? what : kind];
  const [x, y] = at(position);
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, letter * 0.7, 0, 2 * Math.PI);
  context.fill();
  context.fillStyle = "#fff";
  context.font = `bold ${letter * 0.95}px system-ui`;
  context.fillText(sign, x, y + letter * 0.06);
}

function drawTurret({ context, at, metre, colour, ink }, { position, heading, holder }, players) {
  const [x, y] = at(position);
  const side = 1.8 * metre;
  context.fillStyle = players[holder] ? colour(players[holder].team) : "#888";
  context.fillRect(x - side / 2, y - side / 2, side, side);
  context.strokeStyle = ink;
  context.lineWidth = 0.35 * metre;
  ray(context, x, y, heading, 1.7 * metre);
}

function drawBeam({ context, at, metre }, player, players) {
  const target = player.weapon[0] === "Launcher" && players[player.target];
  if (!target) return;
  context.strokeStyle = "#d33a";
  context.lineWidth = 0.12 * metre;
  context.beginPath();
  context.moveTo(...at(player.position));
  context.lineTo(...at(target.position));
  context.stroke();
}

function drawPlayer({ context, at, metre, colour, ink, letter }, player, isMe) {
  const [x, y] = at(player.position);
  const radius = Math.max(0.9 * metre, letter * 0.5);
  context.globalAlpha = player.health > 0 ? 1 : 0.35;
  context.fillStyle = colour(player.team);
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
  context.lineWidth = radius * 0.3;
  if (player.health > 0) {
    context.strokeStyle = "#fff";
    // The server does not send the heading to the owner, who chooses it.
    if (!isMe) ray(context, x, y, player.heading, radius);
    ring(context, x, y, radius * 1.35, player.health / 100, "#2f8f4e");
    if (player.shield) ring(context, x, y, radius * 1.75, player.shield.strength / 50, "#3aa5c9");
  }
  const name = `${player.name}${player.emote ? ` ${player.emote}` : ""}`;
  context.font = `${isMe ? "bold " : ""}${letter}px system-ui`;
  context.fillStyle = ink;
  const text = isMe ? `${name} (you), ${player.ammo} rounds` : name;
  const half = context.measureText(text).width / 2;
  const away = radius * 1.9 + letter * 0.45;
  // At the upper edge the name stands below its player.
  context.fillText(text, clamp(x, half, context.canvas.width - half), y < away + letter ? y + away : y - away);
  context.globalAlpha = 1;
}

function drawShot({ context, at, metre, ink }, { path, speed, damage }, tick) {
  const far = (speed * Math.max(0, tick - path.since_tick)) / 60;
  const point = (far) => at(path.from.map((from, axis) => from + path.direction[axis] * far));
  context.strokeStyle = damage > 40 ? "#d33" : ink;
  context.lineWidth = (damage > 40 ? 0.6 : 0.3) * metre;
  context.lineCap = "round";
  context.beginPath();
  context.moveTo(...point(Math.max(0, far - 1)));
  context.lineTo(...point(far));
  context.stroke();
}

const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

// A line from a point in a direction in degrees.
function ray(context, x, y, degrees, length) {
  const angle = (degrees * Math.PI) / 180;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + Math.cos(angle) * length, y - Math.sin(angle) * length);
  context.stroke();
}

// A part of a circle, from the top clockwise.
function ring(context, x, y, radius, part, colour) {
  context.strokeStyle = colour;
  context.beginPath();
  context.arc(x, y, radius, -Math.PI / 2, (part * 2 - 0.5) * Math.PI);
  context.stroke();
}

//! A fog of war: scouts walk over a map and uncover tiles. What a team has seen is one property of
//! 65,536 bits.
//!
//! The module [`fog`] says how a change of this property is sent: as the runs of tiles that differ from a map
//! that the client has. Each team has two clients, on links that lose packets, and sees only its own chart.
//!
//! `cargo run --release --example fog -- --svg fog.svg` draws the map of a client beside that of the server.
#![expect(clippy::print_stdout, reason = "the example's output")]

mod fog;
mod picture;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, Network, PeerId, Rng};

/// The sides of the map, in tiles.
const SIDE: usize = 256;
/// How many tiles a scout sees in each direction.
const SIGHT: i8 = 6;
const TEAMS: u32 = 2;

/// What a team has seen.
#[derive(Replicated, Default)]
struct Chart {
    /// A bit for each tile, row by row.
    #[replicated(delta = fog)]
    seen: Vec<u64>,
    #[replicated]
    scouts: [[u8; 2]; 3],
    headings: [[i8; 2]; 3],
}

/// Scouts that uncover a map, and what differences save. All links lose a tenth of the packets.
#[derive(Parser)]
#[command(name = "fog")]
struct Args {
    /// How many ticks the scouts walk.
    #[arg(long, default_value_t = 600)]
    ticks: u32,
    /// Write a picture to this file.
    #[arg(long)]
    svg: Option<std::path::PathBuf>,
    /// End with one line of JSON.
    #[arg(long)]
    json: bool,
}

/// A client, its connection, and the chart of its team.
type Guest = (Client, ConnectionId, ObjectRef<Chart>);

struct War {
    server: Server,
    charts: Vec<ObjectRef<Chart>>,
    guests: Vec<Guest>,
    network: Network,
    clock: Clock,
    rng: Rng,
}

impl War {
    fn new() -> Self {
        let mut server = Server::new(ServerConfig::default());
        let (mut network, clock) = (Network::new(1), Clock::at_hz(30));
        let chart = |team| {
            let scouts = [40, 120, 200].map(|x| [x, 30 + 190 * team as u8]);
            let seen = vec![0; SIDE * SIDE / 64];
            let chart = server.spawn(Chart { seen, scouts, headings: [[1, 1]; 3] });
            server.object(chart).set_audience(Audience::Group(Group(team)));
            chart
        };
        let charts: Vec<_> = (0..TEAMS).map(chart).collect();
        let link = LinkConditions::mobile().with_loss(0.1);
        let guest = |number: u32| {
            let config = ClientConfig { measure: true, ..ClientConfig::default() };
            let mut client = Client::new(config, Session::for_tests(number.into()));
            client.register::<Chart>();
            network.connect(PeerId(0), PeerId(number), link);
            let (connection, team) = (server.connect(Duration::ZERO), number % TEAMS);
            server.connection(connection).join_group(Group(team));
            (client, connection, charts[team as usize])
        };
        let guests = (1..=2 * TEAMS).map(guest).collect();
        Self { server, charts, guests, network, clock, rng: Rng::new(1) }
    }

    /// Moves the scouts, some of which turn, and uncovers what they see. The map is a globe.
    fn walk(&mut self) {
        for &chart in &self.charts {
            let Chart { seen, scouts, headings } = &mut self.server[chart];
            for (scout, heading) in scouts.iter_mut().zip(headings) {
                if self.rng.below(40) == 0 {
                    *heading = [0; 2].map(|_| self.rng.below(3) as i8 - 1);
                }
                let moved =
                    |place: [u8; 2], by: [i8; 2]| [0, 1].map(|at| place[at].wrapping_add_signed(by[at]));
                *scout = moved(*scout, *heading);
                let around = (-SIGHT..=SIGHT).flat_map(|down| (-SIGHT..=SIGHT).map(move |on| [on, down]));
                for by in around.filter(|[on, down]| on * on + down * down <= SIGHT * SIGHT) {
                    let [x, y] = moved(*scout, by).map(usize::from);
                    seen[(y * SIDE + x) / 64] |= 1 << (x % 64);
                }
            }
        }
    }

    fn tick(&mut self) {
        let Self { server, guests, network, clock, .. } = self;
        let now = clock.tick();
        while let Some(delivery) = network.deliver(now) {
            match (delivery.to.0, delivery.from.0) {
                (0, from) => server.receive(guests[from as usize - 1].1, now, delivery.bytes),
                (to, _) => guests[to as usize - 1].0.receive(now, delivery.bytes).expect("an honest server"),
            }
        }
        server.tick(now);
        for ((client, connection, _), number) in guests.iter_mut().zip(1..) {
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                network.send(now, PeerId(number), PeerId(0), packet);
            }
            while let Some(packet) = server.poll_transmit(*connection) {
                network.send(now, PeerId(0), PeerId(number), packet);
            }
        }
    }

    /// Ticks until each client has the chart of its team and no other, for a minute at most.
    fn settle(&mut self) -> bool {
        (0..1_800).any(|_| {
            self.tick();
            self.guests.iter().all(|(client, _, own)| {
                let is_equal = |(chart, shown): (_, &Chart)| {
                    chart == *own
                        && (&shown.seen, shown.scouts)
                            == (&self.server[chart].seen, self.server[chart].scouts)
                };
                client.objects::<Chart>().count() == 1 && client.objects().all(is_equal)
            })
        })
    }

    /// Returns how often the clients have received the tiles of a chart, and in how many bytes.
    fn received(&self) -> (u64, u64) {
        let traffic = self.guests.iter().flat_map(|(client, ..)| client.connection_info().traffic());
        let seen = traffic.flat_map(|class| &class.properties).filter(|property| property.path == "seen");
        seen.fold((0, 0), |sum, seen| (sum.0 + seen.updates, sum.1 + seen.bits / 8))
    }
}

fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let mut war = War::new();
    let have_joined = war.settle();
    let (changes_before, bytes_before) = war.received();
    for _ in 0..args.ticks {
        war.walk();
        war.tick();
    }
    if let Some(file) = &args.svg {
        let (client, _, chart) = &war.guests[0];
        std::fs::write(file, picture::svg(&war.server[*chart].seen, &client[*chart].seen))?;
    }
    let converged = war.settle() && have_joined;
    let (changes, bytes) = war.received();
    let mut whole = BitWriter::new();
    war.server[war.charts[0]].seen.write(&mut whole)?;
    let per_tick = |bytes: u64| bytes as f64 / f64::from(args.ticks) / war.guests.len() as f64;
    let delta = per_tick(bytes - bytes_before);
    let whole = per_tick((changes - changes_before) * whole.bit_len() as u64 / 8);
    if args.json {
        println!(r#"{{"converged":{converged},"delta_bytes":{delta:.1},"whole_bytes":{whole:.1}}}"#);
    } else {
        println!(
            "bytes to a client in a tick: {delta:.1} of differences, {whole:.1} if the whole map were sent"
        );
        println!("{}", if converged { "every client has its map" } else { "NOT every client has its map" });
    }
    Ok(converged)
}

fn main() -> ExitCode {
    let result = run(&Args::parse()).inspect_err(|error| eprintln!("fog: {error}"));
    ExitCode::from(u8::from(!result.unwrap_or(false)))
}

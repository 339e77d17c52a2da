//! A server and one player, each with frames of its own length, and links of the simulator between them.
//!
//! *Invariant:* each side receives packets only at the beginning of its frames, like a program that polls a
//! socket.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, LinkId, Loss, Network, PeerId};
use repl::{Confirmed, InputCounts, InputStats, Predict, Predicted, TickInput};

pub(crate) const STEP: Duration = Duration::from_nanos(1_000_000_000 / 60);
const SERVER: PeerId = PeerId(0);
const PLAYER: PeerId = PeerId(1);
const ADDRESS: u16 = 5_000;

/// The input of a player for a tick.
#[derive(Replicated, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steer {
    #[replicated]
    pub(crate) forward: i8,
    #[replicated]
    pub(crate) right: i8,
    #[replicated]
    pub(crate) buttons: u8,
    #[replicated]
    pub(crate) yaw: u16,
}

/// The player's object: its position and its motion. Each step depends on all earlier steps.
#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Body {
    pub(crate) position: [f32; 2],
    pub(crate) velocity: [f32; 2],
}

impl Body {
    pub(crate) fn step(&mut self, steer: Steer) {
        let (sin, cos) = (f32::from(steer.yaw) / 10_000.0).sin_cos();
        let (forward, right) = (f32::from(steer.forward) / 128.0, f32::from(steer.right) / 128.0);
        let push = [forward * cos - right * sin, forward * sin + right * cos];
        for ((position, velocity), push) in self.position.iter_mut().zip(&mut self.velocity).zip(push) {
            *velocity = *velocity * 0.9 + push;
            *position += *velocity / 60.0;
        }
    }
}

#[derive(Replicated, Default)]
pub(crate) struct Pawn {
    #[replicated(condition = OwnerOnly)]
    pub(crate) confirmed: Confirmed<Body>,
}

/// Returns a link whose latency is half of the round trip.
pub(crate) fn link(round_trip_ms: u64, jitter_ms: u64, loss: Loss) -> LinkConditions {
    LinkConditions {
        latency: Duration::from_millis(round_trip_ms) / 2,
        jitter: Duration::from_millis(jitter_ms),
        loss,
        ..LinkConditions::perfect()
    }
}

/// When one side runs its frames.
pub(crate) struct Frames {
    pub(crate) next: Duration,
    pub(crate) step: Duration,
    /// The packets that have arrived since the last frame.
    arrived: Vec<Vec<u8>>,
}

impl Frames {
    fn starting_at(next: Duration) -> Self {
        Self { next, step: STEP, arrived: Vec::new() }
    }
}

pub(crate) struct Game {
    pub(crate) server: Server,
    endpoint: Endpoint<u16>,
    /// `None` while there is no session.
    pub(crate) id: Option<ConnectionId>,
    pub(crate) client: Client,
    pub(crate) network: Network,
    pub(crate) links: (LinkId, LinkId),
    pub(crate) server_frames: Frames,
    pub(crate) client_frames: Frames,
    pub(crate) now: Duration,
    /// Returns the input of the player for a tick.
    pub(crate) steer: fn(u64) -> Steer,
    /// The player's object on the server, and its state there.
    pub(crate) pawn: Option<ObjectRef<Pawn>>,
    pub(crate) body: Body,
    /// Changes the body on the server in a tick, in a way that the player cannot predict.
    pub(crate) shove: fn(u64, &mut Body),
    /// The player's prediction of the body.
    pub(crate) mine: Predicted<Body>,
    /// The most steps that a rollback has repeated.
    pub(crate) most_steps: u64,
    /// The inputs that the server used for its ticks.
    pub(crate) used: Vec<(u64, TickInput<Steer>)>,
    /// The ticks for which the player has made inputs.
    pub(crate) made: Vec<u64>,
    /// Whether the player makes inputs, and whether the player sends each input as a message with three
    /// copies.
    pub(crate) makes_inputs: bool,
    pub(crate) sends_copies: bool,
    /// The most inputs that the player has made in one frame.
    pub(crate) most_at_once: usize,
    pub(crate) restarts: usize,
    /// For each frame of the player, how many ticks the input clock advanced, divided by the ticks that
    /// passed.
    pub(crate) speeds: Vec<f64>,
    position: f64,
    /// For each frame of the player, how many ticks the input clock was ahead of the server's tick.
    pub(crate) ahead: Vec<f64>,
}

fn register(side: &mut impl Register) {
    side.register::<Pawn>();
    side.register_inputs_by_field::<Steer>().register_message::<Steer>(Channel::Sequenced { copies: 3 });
}

fn server() -> Server {
    let mut server = Server::new(ServerConfig::default());
    register(&mut server);
    server
}

fn endpoint(number: u64) -> Endpoint<u16> {
    Endpoint::new(EndpointConfig::default(), 0x0123_4567_89ab_cdef_0011_2233_4455_6677 ^ u128::from(number))
}

impl Game {
    pub(crate) fn new(seed: u64, conditions: LinkConditions) -> Self {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(seed));
        register(&mut client);
        let mut network = Network::new(seed);
        let links = network.connect(SERVER, PLAYER, conditions);
        Self {
            server: server(),
            endpoint: endpoint(seed),
            id: None,
            client,
            network,
            links,
            server_frames: Frames::starting_at(Duration::ZERO),
            client_frames: Frames::starting_at(Duration::from_micros(1 + seed * 977 % 16_000)),
            now: Duration::ZERO,
            steer,
            pawn: None,
            body: Body::default(),
            shove: |_, _| (),
            mine: Predicted::default(),
            most_steps: 0,
            used: Vec::new(),
            made: Vec::new(),
            makes_inputs: true,
            sends_copies: false,
            most_at_once: 0,
            restarts: 0,
            speeds: Vec::new(),
            position: 0.0,
            ahead: Vec::new(),
        }
    }

    /// Runs the frames of both sides until this time has passed.
    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let is_server = self.server_frames.next <= self.client_frames.next;
            let frames = if is_server { &mut self.server_frames } else { &mut self.client_frames };
            if frames.next > end {
                break;
            }
            self.now = frames.next;
            frames.next += frames.step;
            while let Some(delivery) = self.network.deliver(self.now) {
                let to =
                    if delivery.to == SERVER { &mut self.server_frames } else { &mut self.client_frames };
                to.arrived.push(delivery.bytes.to_vec());
            }
            if is_server { self.server_frame() } else { self.client_frame() }
        }
        self.now = end;
    }

    fn server_frame(&mut self) {
        let Self { server, endpoint, now, .. } = self;
        for packet in self.server_frames.arrived.drain(..) {
            endpoint.receive(server, *now, ADDRESS, &packet);
        }
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Connected(id) = event {
                self.id = Some(id);
                self.pawn = Some(spawn(server, id));
                self.body = Body::default();
            }
        }
        if let (Some(id), Some(pawn)) = (self.id, self.pawn) {
            let tick = server.next_tick();
            let input = server.connection(id).input::<Steer>(tick);
            self.used.push((tick, input));
            self.body.step(input.or_last().unwrap_or_default());
            (self.shove)(tick, &mut self.body);
            if let Some(pawn) = server.get_mut(pawn) {
                pawn.confirmed.set(tick, self.body);
            }
        }
        server.tick(*now);
        while let Some((_, packet)) = endpoint.poll_transmit(server) {
            self.network.send(*now, SERVER, PLAYER, packet);
        }
    }

    /// Passes the newest confirmed state to the prediction, and rolls back if they differ.
    fn reconcile(&mut self) {
        let Some(near) = self.client.server_tick() else { return };
        let Some((_, pawn)) = self.client.owned_objects::<Pawn>().next() else { return };
        if let Some(confirmed) = pawn.confirmed.at(near) {
            self.mine.confirm(confirmed, |mine, confirmed| mine == confirmed);
        }
        let client = &mut self.client;
        let steps = self.mine.roll_back(|body, at| body.step(input_at(client, at.tick)));
        self.most_steps = self.most_steps.max(steps);
    }

    /// Runs for 500 ms. Returns whether the server confirmed more than 20 states in this time, all as
    /// predicted.
    pub(crate) fn is_right(&mut self) -> bool {
        let stats = self.mine.stats();
        self.run(Duration::from_millis(500));
        let now = self.mine.stats();
        now.rollbacks == stats.rollbacks && now.confirmed > stats.confirmed + 20
    }

    /// Gives the player another object at another position.
    pub(crate) fn respawn(&mut self, body: Body) {
        self.pawn = self.id.map(|id| spawn(&mut self.server, id));
        self.body = body;
    }

    pub(crate) fn restart_server(&mut self) {
        (self.server, self.endpoint, self.id) = (server(), endpoint(self.server.ticks()), None);
        self.restarts += 1;
    }

    fn client_frame(&mut self) {
        let now = self.now;
        for packet in self.client_frames.arrived.drain(..) {
            self.client.receive(now, &packet).ok();
        }
        self.reconcile();
        let before = self.made.len();
        let due = self.client.inputs::<Steer>().due(now);
        for tick in due.filter(|_| self.makes_inputs) {
            let steer = (self.steer)(tick);
            assert_eq!(self.client.inputs::<Steer>().set(tick, &steer), Ok(&steer));
            self.made.push(tick);
            let client = &mut self.client;
            self.mine.advance(tick, |body, at| body.step(input_at(client, at.tick)));
        }
        self.most_at_once = self.most_at_once.max(self.made.len() - before);
        if self.sends_copies {
            self.client.send(&steer((now.as_secs_f64() * 60.0) as u64)).ok();
        }
        if let Some(interval) = self.client.clock().interval() {
            let (before, position) = (self.position, self.position());
            self.position = position;
            let ticks = self.client_frames.step.as_secs_f64() / interval.as_secs_f64();
            self.speeds.push((position - before) / ticks);
        }
        let ahead = self.stats().ahead_ticks;
        self.ahead.extend(ahead);
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            self.network.send(now, PLAYER, SERVER, packet);
        }
    }

    /// Returns the tick for which the player has to make an input now, as a fraction.
    fn position(&mut self) -> f64 {
        let tick = self.client.clock().tick_at(self.now);
        self.stats().ahead_ticks.zip(tick).map_or(0.0, |(ahead, tick)| tick + ahead)
    }

    pub(crate) fn set_link(&mut self, conditions: LinkConditions) {
        let (down, up) = self.links;
        self.network.set_conditions(down, conditions);
        self.network.set_conditions(up, conditions);
    }

    pub(crate) fn stats(&mut self) -> InputStats {
        self.client.inputs::<Steer>().stats(self.now)
    }

    pub(crate) fn counts(&mut self) -> InputCounts {
        self.id.map_or_else(InputCounts::default, |id| self.server.connection(id).input_counts::<Steer>())
    }
}

/// Returns an input whose axes change from time to time, whose buttons change rarely, and whose yaw changes
/// in half of the ticks.
pub(crate) fn steer(tick: u64) -> Steer {
    let held =
        |ticks: u64, salt: u64| (tick / ticks).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(salt as u32);
    Steer {
        forward: held(20, 7) as i8,
        right: held(15, 13) as i8,
        buttons: 1 << (held(40, 29) % 8),
        yaw: (tick / 2 * 37) as u16,
    }
}

fn spawn(server: &mut Server, owner: ConnectionId) -> ObjectRef<Pawn> {
    let pawn = server.spawn(Pawn::default());
    server.object(pawn).set_owner(Some(owner));
    pawn
}

fn input_at(client: &mut Client, tick: u64) -> Steer {
    client.inputs::<Steer>().or_last(tick).unwrap_or_default()
}

//! The server and the players, with the links between them.
//!
//! *Invariant:* each side reads packets only at the beginning of its frames.

use std::time::Duration;

use repl::ConnectionId;
use repl::sim::{Clock, LinkConditions, Loss, Network, PeerId};

use crate::args::Args;
use crate::model::HZ;
use crate::player::Player;
use crate::referee::Referee;

/// The links of the four bots. Each has a round trip and a greatest jitter in each direction, both in
/// milliseconds, and the share of the packets that is lost.
pub(crate) const LINKS: [(u64, u64, f64); 4] =
    [(20, 0, 0.0), (80, 20, 0.02), (120, 20, 0.02), (200, 40, 0.05)];

const SERVER: PeerId = PeerId(0);

/// A match.
pub(crate) struct Session {
    pub(crate) referee: Referee,
    pub(crate) players: Vec<Player>,
    ids: Vec<ConnectionId>,
    network: Network,
    clock: Clock,
    shoves: bool,
}

impl Session {
    pub(crate) fn new(args: &Args) -> Self {
        let (mut referee, mut network) = (Referee::new(args.seed, args.cap_ms), Network::new(args.seed));
        let places = [[-8.0, -8.0], [8.0, -8.0], [8.0, 8.0], [-8.0, 8.0]];
        let (mut players, mut ids) = (Vec::new(), Vec::new());
        for (number, ((round_trip, jitter, loss), place)) in (1_u32..).zip(LINKS.into_iter().zip(places)) {
            ids.push(referee.join(place));
            players.push(Player::new(args.seed * 100 + u64::from(number)));
            let conditions = LinkConditions {
                latency: Duration::from_millis(round_trip) / 2,
                jitter: Duration::from_millis(jitter),
                loss: if loss > 0.0 { Loss::Independent(loss) } else { Loss::None },
                ..LinkConditions::perfect()
            };
            network.connect(SERVER, PeerId(number), conditions);
        }
        Self { referee, players, ids, network, clock: Clock::at_hz(HZ), shoves: true }
    }

    pub(crate) fn play_second(&mut self) {
        (0..HZ).for_each(|_| self.tick());
    }

    /// Lets all players stand still until all clients have the newest state.
    pub(crate) fn rest(&mut self) {
        self.shoves = false;
        self.players.iter_mut().for_each(|player| player.is_resting = true);
        (0..5).for_each(|_| self.play_second());
    }

    fn tick(&mut self) {
        let now = self.clock.tick();
        while let Some(delivery) = self.network.deliver(now) {
            if delivery.to == SERVER {
                let player = delivery.from.0 as usize - 1;
                self.referee.server.receive(self.ids[player], now, delivery.bytes);
            } else {
                self.players[delivery.to.0 as usize - 1].receive(now, delivery.bytes);
            }
        }
        self.referee.tick(now, self.shoves);
        for ((player, &id), number) in self.players.iter_mut().zip(&self.ids).zip(1..) {
            while let Some(packet) = self.referee.server.poll_transmit(id) {
                self.network.send(now, SERVER, PeerId(number), packet);
            }
            player.frame(now);
            while let Some(packet) = player.client.poll_transmit() {
                self.network.send(now, PeerId(number), SERVER, packet);
            }
        }
    }

    /// Returns whether all clients have the state of the server.
    pub(crate) fn has_converged(&self) -> bool {
        let seats = &self.referee.players;
        self.players.iter().zip(seats).all(|(player, own)| {
            let others = seats.iter().filter(|seat| seat.id != own.id);
            player.mine.state().map(|body| body.position) == Some(own.body.position)
                && others.map(|seat| (seat.fighter, seat.body.position)).all(|(fighter, position)| {
                    player.client.get(fighter).map(|fighter| fighter.position) == Some(position)
                })
        })
    }
}

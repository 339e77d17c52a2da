//! Decides what each client sees: which player it owns, which objects are visible, which conditions are
//! switched on, and which secrets may be sent to it.
//!
//! *Invariant:* `may_see` is computed from the calls of the game to the server, never from the packets of the
//! server.

use std::collections::{BTreeMap, HashMap, HashSet};

use repl::prelude::*;

use crate::game::Arena;
use crate::model::{PerkKind, Player};
use crate::plane::distance;
use crate::secrets::{Drawn, Rule};

/// The distance up to which a client sees pickups, measured from its player.
const PICKUP_SIGHT: f32 = 20.0;

/// The objects that are hidden from each connection, and the player that each connection owns.
#[derive(Default)]
pub struct Sight {
    pub seats: BTreeMap<ConnectionId, ObjectRef<Player>>,
    hidden: HashSet<(ConnectionId, ObjectRef<()>)>,
    /// For each client and object, the tick in which the server learned that the client has acknowledged the
    /// object's opening (its first update).
    open_since: HashMap<(ConnectionId, ObjectRef<()>), u32>,
}

impl Sight {
    /// Gives a client that has joined the next player without an owner.
    pub fn join(&mut self, server: &mut Server, arena: &Arena, connection: ConnectionId) {
        let free = arena.players.iter().copied().find(|&player| server.object_info(player).owner().is_none());
        let Some(player) = free else { return };
        server.object(player).set_owner(Some(connection)).set_remote_role(Role::AutonomousProxy);
        for &turret in &arena.turrets {
            if server[turret].holder == player {
                server.object(turret).set_owner(Some(connection));
            }
        }
        self.seats.insert(connection, player);
    }

    /// Lets a bot play the player of a client that left.
    pub fn leave(&mut self, server: &mut Server, connection: ConnectionId) {
        let Some(player) = self.seats.remove(&connection) else { return };
        server.object(player).set_owner(None).set_remote_role(Role::SimulatedProxy);
    }

    /// Decides again which objects each connection sees. Call it in each tick, after the rules of the game
    /// and before `Server::tick`.
    pub fn look(&mut self, server: &mut Server, arena: &Arena) {
        for (connection, seat) in self.seats.clone() {
            let (here, team) = (server[seat].position, server[seat].team);
            for &player in &arena.players {
                let is_cloaked = server[player].mind.cloaked > 0 && server[player].team != team;
                self.show(server, connection, player.erase(), !is_cloaked);
                let scans = player == seat || server[seat].has(PerkKind::Scanner);
                server.object(player).set_custom_active_for(connection, Player::WOUNDS, scans);
            }
            for &pickup in &arena.pickups {
                let is_near = distance(here, server[pickup].position) < PICKUP_SIGHT;
                self.show(server, connection, pickup.erase(), is_near);
            }
        }
        self.hidden.retain(|&(_, object)| server.contains(object));
    }

    fn show(&mut self, server: &mut Server, connection: ConnectionId, object: ObjectRef<()>, visible: bool) {
        let key = (connection, object);
        let changed = if visible { self.hidden.remove(&key) } else { self.hidden.insert(key) };
        if changed {
            server.object(object).set_visible(connection, visible);
            self.open_since.remove(&key);
        }
    }

    /// Returns whether a connection may see an object.
    pub fn sees<T>(&self, server: &Server, connection: ConnectionId, object: ObjectRef<T>) -> bool {
        server.contains(object) && !self.hidden.contains(&(connection, object.erase()))
    }

    /// Returns whether a packet to a connection may hold a secret now.
    pub fn may_see(&self, server: &Server, connection: ConnectionId, secret: &Drawn) -> bool {
        let is_owner = server.object_info(secret.object).owner() == Some(connection);
        let allowed = match secret.rule {
            Rule::OwnerOnly => is_owner,
            Rule::SkipOwner => !is_owner,
            Rule::InitialOnly => {
                let open_since = self.open_since.get(&(connection, secret.object));
                open_since.is_none_or(|&since| secret.tick <= since)
            }
        };
        allowed && self.sees(server, connection, secret.object)
    }

    /// Records that a client has acknowledged the openings of all objects that it has. Call it when the
    /// client has acknowledged everything.
    pub fn settled(&mut self, connection: ConnectionId, client: &Client, arena: &Arena) {
        let players = arena.players.iter().map(|player| player.erase());
        let turrets = arena.turrets.iter().map(|turret| turret.erase());
        for object in players.chain(turrets).filter(|&object| client.contains(object)) {
            self.open_since.entry((connection, object)).or_insert(arena.tick);
        }
    }
}

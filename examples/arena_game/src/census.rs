//! The census: in each tick, the server sends each client a hash over the objects that this client may see. A
//! client with the same hash has the same objects, and the same values of the hashed properties.
//!
//! In one process every value of a client is compared with the server's value. Between two processes the
//! census shows whether the client is up to date, at any time of the match.
//!
//! *Invariant:* only values that every client sees exactly are hashed. So a client that has all packets of a
//! tick gets the same hash as the server in this tick. Only numbers of fixed sizes are hashed, because the
//! sizes of `usize` and of discriminants depend on the processor.

use std::hash::{DefaultHasher, Hash, Hasher};

use repl::prelude::*;
use repl::{Channel, Guid};

use crate::model::{Match, Phase, Pickup, PickupKind, Player, Projectile, Team, Turret};
use crate::session::Session;

/// The message with the server's hash of the objects that one client may see.
#[derive(NetSerialize, Clone, Copy, Debug)]
pub struct Census {
    pub tick: u64,
    sum: u64,
}

/// How many times a client agreed with the census of the server, and how many times it did not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    pub agreed: u64,
    pub differed: u64,
}

/// Registers the census at a server or a client.
pub fn register(side: &mut impl Register) {
    side.register_message::<Census>(Channel::Sequenced { copies: 1 });
}

/// Sends each client the census of the next tick.
pub fn send(session: &mut Session) {
    let tick = session.server.next_tick();
    let connections: Vec<_> = session.server.connections().collect();
    for connection in connections {
        let census = Census { tick, sum: of_server(session, connection) };
        // If the client is not connected yet, or there is no room, it gets no census in this tick.
        session.server.connection(connection).send(&census).ok();
    }
}

impl Agreement {
    /// Compares the objects of a client with the last census that has arrived. Returns whether they have the
    /// same hash. Returns `None` if no census has arrived, or if the client shows another tick.
    pub fn compare(&mut self, client: &mut Client) -> Option<bool> {
        let census = std::iter::from_fn(|| client.poll_message::<Census>()).last()?;
        let is_comparable = client.server_tick() == Some(census.tick);
        let agrees = is_comparable.then(|| of_client(client) == census.sum)?;
        *if agrees { &mut self.agreed } else { &mut self.differed } += 1;
        Some(agrees)
    }
}

/// Adds the values of an object to a hash. Its reference is hashed elsewhere.
trait Counted: Replicated {
    fn count(&self, hasher: &mut DefaultHasher);
}

impl Counted for Match {
    fn count(&self, hasher: &mut DefaultHasher) {
        let phase: u8 = match self.phase {
            Phase::Waiting => 0,
            Phase::Playing { .. } => 1,
            Phase::Break { .. } => 2,
            Phase::Over { .. } => 3,
        };
        (phase, self.seconds_left).hash(hasher);
    }
}

impl Counted for Team {
    fn count(&self, hasher: &mut DefaultHasher) {
        self.score.hash(hasher);
    }
}

impl Counted for Player {
    fn count(&self, hasher: &mut DefaultHasher) {
        (self.health, self.perks.len() as u32, self.pack.len() as u32).hash(hasher);
    }
}

impl Counted for Turret {
    fn count(&self, _: &mut DefaultHasher) {}
}

impl Counted for Pickup {
    fn count(&self, hasher: &mut DefaultHasher) {
        let kind: u8 = match self.kind {
            PickupKind::Health => 0,
            PickupKind::Ammo { .. } => 1,
            PickupKind::Loot(_) => 2,
            PickupKind::Launcher => 3,
            PickupKind::Perk(_) => 4,
        };
        kind.hash(hasher);
    }
}

impl Counted for Projectile {
    fn count(&self, hasher: &mut DefaultHasher) {
        self.path.since_tick.hash(hasher);
    }
}

/// Returns the hash of the objects that a client may see.
fn of_server(session: &Session, connection: ConnectionId) -> u64 {
    let Session { server, sight, .. } = session;
    fn of_class<T: Counted>(server: &Server, sees: impl Fn(ObjectRef<()>) -> bool) -> u64 {
        sum(server.objects::<T>().filter(|(object, _)| sees(object.erase())))
    }
    let sees = |object| sight.sees(server, connection, object);
    of_class::<Match>(server, sees)
        .wrapping_add(of_class::<Team>(server, sees))
        .wrapping_add(of_class::<Player>(server, sees))
        .wrapping_add(of_class::<Turret>(server, sees))
        .wrapping_add(of_class::<Pickup>(server, sees))
        .wrapping_add(of_class::<Projectile>(server, sees))
}

/// Returns the hash of the objects that a client has.
fn of_client(client: &Client) -> u64 {
    sum(client.objects::<Match>())
        .wrapping_add(sum(client.objects::<Team>()))
        .wrapping_add(sum(client.objects::<Player>()))
        .wrapping_add(sum(client.objects::<Turret>()))
        .wrapping_add(sum(client.objects::<Pickup>()))
        .wrapping_add(sum(client.objects::<Projectile>()))
}

/// Returns a hash of some objects that does not depend on their order.
fn sum<'a, T: Counted>(objects: impl Iterator<Item = (ObjectRef<T>, &'a T)>) -> u64 {
    let one = |(object, value): (ObjectRef<T>, &T)| {
        let mut hasher = DefaultHasher::new();
        // Hash only the slot: after a restart of the server, the same object may have another generation on a
        // client.
        object.guid().map_or(u32::MAX, Guid::slot).hash(&mut hasher);
        value.count(&mut hasher);
        hasher.finish()
    };
    objects.map(one).fold(0, u64::wrapping_add)
}
